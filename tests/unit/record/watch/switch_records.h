// Records of one process's threads that leave their CPUs and come back, written to a trace file and read back into the model.
#pragma once

#include "fake_tree.h"
#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"
#include "trace/build_run.h"

#include <string>
#include <vector>

namespace plumb::testing {

constexpr uint32_t kSwitchedPid = 4'190'003; // above the kernel's largest

inline record::PerfRecord switch_record(record::PerfKind kind, uint64_t time_ns, uint32_t tid, bool leaves, bool preempted) {
    record::PerfRecord record;
    record.kind = kind;
    record.time_ns = time_ns;
    record.pid = kSwitchedPid;
    record.tid = tid;
    record.leaves = leaves;
    record.preempted = preempted;
    return record;
}

class SwitchTrace {
  public:
    SwitchTrace() {
        trace::ProcessSeen seen{};
        seen.pid = kSwitchedPid;
        seen.time_ns = 1;
        file.append(trace::RecordType::ProcessSeen, 0, seen);
    }
    model::Run close_and_read() {
        file.close();
        std::vector<trace::TraceReader> files;
        files.emplace_back(path_);
        return trace::build_run(files, nullptr);
    }

  private:
    FakeTree tree_;
    const std::string path_ = tree_.root() + "/node-x-1.plumb";

  public:
    record::NodeTraceWriter file{path_, 1 << 20, 1 << 20};
};

} // namespace plumb::testing
