// Page faults that read from a disk, each with the file that is mapped at its address: a blocked thread in a page fault shows
// its instruction, but neither address nor file. Where nothing is read by page faults this costs nothing.
#pragma once

#include "platform/maps.h"
#include "record/perf/fault_sampler.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::record {

class PageReads {
  public:
    // For `pid`, which has not yet exec'd its program, on these CPUs. `most_bytes_each`: of the file for one process.
    PageReads(NodeTraceWriter& file, ProcessTable& processes, std::string proc_root, int pid, const std::vector<int>& cpus,
              uint64_t most_bytes_each);

    // `all`: faults of this very moment as well. Before processes that ended are forgotten.
    void settle(bool all);
    void forget(uint32_t pid);

    std::span<const PerfRing> rings() const { return faults_.rings(); } // for poll

  private:
    using Key = std::tuple<uint32_t, uint64_t, trace::StringId, uint32_t>; // thread, instruction, file, flags
    struct Image { // one program of a process
        uint64_t generation = 0, bytes = 0, round = 0; // round: in which `mappings` were read
        std::vector<platform::Mapping> mappings;
        std::map<Key, trace::PageRead*> reads;
        std::map<std::pair<uint32_t, uint64_t>, uint64_t> latest; // address by thread and start of the mapping
    };
    void take(const PerfRecord& fault);
    Image& image_of(const PerfRecord& fault);
    const platform::Mapping* mapping_of(const Image& image, uint64_t address) const;

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    const std::string proc_root_;
    const uint64_t most_bytes_each_;
    FaultSampler faults_;
    std::unordered_map<uint32_t, Image> images_; // by pid
    uint64_t round_ = 1;
};

} // namespace plumb::record
