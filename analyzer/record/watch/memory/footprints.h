// How much memory each process of the run needs at its largest, and by which policy it gets it. Writes ProcessMemory
// (updated).
#pragma once

#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace plumb::record {

class Footprints {
  public:
    Footprints(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
        : file_(file), proc_root_(std::move(proc_root)), begin_ns_(begin_ns), next_ns_(begin_ns) {}

    // Looks at all living processes, if that is due: at least ten times a second in a young run, once in an old one, less
    // where it takes long. What a process takes after the last look at it is not seen.
    void look(ProcessTable& processes, uint64_t now_ns);
    uint64_t next_ns() const { return next_ns_; }

  private:
    struct Known {
        uint64_t generation = 0; // of the process
        trace::ProcessMemory* record = nullptr;
    };
    void read_one(const Process& process, uint64_t now_ns, Known& known);

    NodeTraceWriter& file_;
    std::string proc_root_;
    uint64_t begin_ns_, next_ns_;
    std::unordered_map<uint32_t, Known> known_; // living, by pid
};

} // namespace plumb::record
