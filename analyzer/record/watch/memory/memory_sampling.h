// Between which NUMA nodes sampled accesses go. Each access is put aside until the next settle(), which asks the kernel
// for the pages of all of them at once; then they are counted in place (MemoryTraffic), and for each stretch of time
// (MemoryEpoch), so that it shows when memory or threads moved. Nothing is kept for hosts where all memory is on one node.
#pragma once

#include "platform/numa_nodes.h"
#include "record/access/sampling/access_sampling.h"
#include "record/access/sampling/data_areas.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"
#include "record/watch/memory/page_nodes.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class MemorySampling {
  public:
    // `most_bytes_each`: of the file for one process. When half of it is used, the parts of areas are no longer recorded
    // apart; when all is, accesses count in the epochs alone.
    MemorySampling(NodeTraceWriter& file, ProcessTable& processes, std::vector<platform::NumaNode> nodes,
                   PageNodeLookup look_up, std::string proc_root, uint64_t begin_ns, uint64_t most_bytes_each);

    // Whether there is anything to find out on this host; if not, says why in the file.
    static bool is_wanted(NodeTraceWriter& file, const std::vector<platform::NumaNode>& nodes, const PageNodeLookup& look_up,
                          const std::string& proc_root);

    // `path`: where the call-path tree has the sample, 0: nowhere.
    void take(const SampledAccess& access, trace::NodeId path);

    // A page fault in user mode that stands for `faults` of them.
    void take_fault(const PerfRecord& fault, uint64_t faults, trace::NodeId path);

    // Counts what was put aside. `last`: ends the epoch.
    void settle(uint64_t now_ns, bool last);

    void forget(uint32_t pid); // it ended: nothing more can come

    uint64_t located() const { return located_; } // accesses whose page was found
    uint64_t unknown() const { return unknown_; } // and those whose page was not

    // What became of it, for the report's evidence. Once, at the end.
    void write_evidence(NodeTraceWriter& file) const;

  private:
    struct Waiting {
        SampledAccess access;
        trace::NodeId path;
        uint64_t faults; // 0: an access
    };
    struct Key {
        uint64_t instruction, part;
        uint32_t tid, area;
        int16_t cpu_node, page_node;
        uint32_t kind; // flags, width, fault or access
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        size_t operator()(const Key& key) const;
    };
    struct Traced {
        uint64_t generation = 0, bytes = 0;
        std::unique_ptr<DataAreas> areas;
        std::unordered_map<Key, trace::MemoryTraffic*, KeyHash> traffic;
        std::unordered_map<Key, trace::FirstTouch*, KeyHash> touches;
        std::vector<Waiting> waiting;
    };
    struct Sum {
        uint64_t samples = 0, time_ns = 0;
    };
    using EpochKey = std::tuple<uint32_t, uint32_t, int16_t, int16_t>; // pid, tid, node of the CPU, node of the page

    Traced& traced(uint32_t pid);
    void put_aside(const SampledAccess& access, trace::NodeId path, uint64_t faults);
    void settle_process(uint32_t pid, Traced& process, uint64_t now_ns);
    void count(Traced& process, const Waiting& one, int node, const DataAreas::Place& place);
    void count_fault(Traced& process, const Waiting& one, int node, const DataAreas::Place& place);
    void end_epoch(uint64_t now_ns);
    int16_t node_of_cpu(int cpu) const;

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    const PageNodeLookup look_up_;
    const std::string proc_root_;
    const uint64_t begin_ns_, most_bytes_each_;
    std::vector<int16_t> node_of_cpu_;
    std::unordered_map<uint32_t, Traced> processes_traced_; // by pid
    uint32_t areas_ = 0;                                    // ids given
    size_t waiting_ = 0;
    std::map<EpochKey, Sum> epoch_;
    uint64_t epoch_begin_ns_;
    std::unordered_map<uint32_t, uint64_t> epoch_bytes_; // by pid
    uint64_t located_ = 0, unknown_ = 0, ended_ = 0, overrun_ = 0;
    int last_error_ = 0; // of a lookup that gave nothing for any page
};

} // namespace plumb::record
