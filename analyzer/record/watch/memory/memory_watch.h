// Where the memory of the run's processes is and who reaches for it, on hosts with more than one place for memory:
// the accesses that samples show, the page faults that put pages somewhere, and how much each process needs.
#pragma once

#include "platform/node_stat.h"
#include "platform/numa_nodes.h"
#include "record/perf/fault_sampler.h"
#include "record/perf/profile.h"
#include "record/watch/memory/footprints.h"
#include "record/watch/memory/memory_sampling.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plumb::record {

class MemoryWatch {
  public:
    // For `pid`, which has not yet exec'd its program, on these CPUs. Nothing: there is nothing to find out on this host,
    // and the file says why.
    static std::unique_ptr<MemoryWatch> begin(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, int pid,
                                              const std::vector<int>& cpus);

    // Addresses of accesses cannot be determined, which the file then says.
    void do_without_accesses(const std::string& why);

    void take(const SampledAccess& access, trace::NodeId path);

    // Asks the kernel for the pages of what was taken. Before processes that ended are forgotten. `all`: of page faults
    // of this very moment as well; `last`: nothing comes after it.
    void settle(bool all, bool last);
    void forget(uint32_t pid); // it ended: nothing more can come

    void look_at_footprints(uint64_t now_ns) { footprints_.look(processes_, now_ns); } // if that is due
    uint64_t next_look_ns() const { return footprints_.next_ns(); }

    // Of the page faults, for poll.
    std::span<const PerfRing> rings() const { return faults_ ? faults_->rings() : std::span<const PerfRing>{}; }

    // The memory of the nodes before the program ran, and when that was.
    const std::vector<platform::NodeMemoryStat>& before() const { return before_; }
    uint64_t before_ns() const { return before_ns_; }

    // What became of it, for the report's evidence. Once, at the end.
    void write_evidence() const;

  private:
    MemoryWatch(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, int pid,
                const std::vector<int>& cpus, const std::vector<platform::NumaNode>& nodes);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    Profile& profile_;
    const std::vector<platform::NodeMemoryStat> before_;
    const uint64_t before_ns_;
    std::optional<MemorySampling> accesses_;
    std::optional<FaultSampler> faults_; // as long as there is accesses_
    Footprints footprints_;
};

} // namespace plumb::record
