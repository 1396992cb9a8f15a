// What the node is and does, which one recorder a node writes: its topology, what runs beside the program, and what the
// kernel counted on the whole machine. Another recorder takes over if that one ends, or is killed, before its program does.
#pragma once

#include "platform/memory_counters.h"
#include "record/calibrate/calibration.h"
#include "record/perf/process_table.h"
#include "record/run/run_directory.h"
#include "record/watch/memory/memory_watch.h"
#include "record/watch/node/node_monitor.h"
#include "record/watch/threads/thread_monitor.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plumb::record {

class NodeWatch {
  public:
    // Before the program runs: reads the counters of the machine. `has_other_ranks`: other recorders may be watching a node.
    NodeWatch(NodeTraceWriter& file, ProcessTable& processes, RunDirectory& directory, bool has_other_ranks);

    // Not before the program runs: the first look takes longer than all else at the start. `memory` may be null.
    void begin(uint64_t begin_ns, Calibration& calibration, const MemoryWatch* memory);

    // One look, if this recorder watches the node. `recorder_ns`: CPU time of this process so far.
    void read(uint64_t now_ns, ThreadMonitor& threads, uint64_t recorder_ns, bool last);

    // What the machine counted since the program began. Once, at the end.
    void write_memory_counters();

  private:
    void write_topology(const std::string& allowed, bool watches, Calibration& calibration);
    void begin_monitor(uint64_t begin_ns, const std::string& allowed);
    void take_over(uint64_t now_ns);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    RunDirectory& directory_;
    const bool has_other_ranks_;
    platform::MemoryCounters memory_counters_;
    std::optional<NodeMonitor> monitor_; // where this recorder watches the node
    uint64_t asked_ns_ = 0;
};

} // namespace plumb::record
