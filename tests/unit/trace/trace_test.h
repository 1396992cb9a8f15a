// What several tests of the reader share: the trace of a small program, and figures of the model made from traces.
#pragma once

#include "synthetic_trace.h"
#include "trace/build_run.h"

namespace plumb::trace {

inline constexpr uint32_t kPid = 42; // of the program of shim_trace()

// The shim's file for a program that belongs to no job, as far as its start.
inline SyntheticTrace shim_trace() {
    SyntheticTrace trace(Writer::process, kPid);
    ProcessStart start{};
    start.pid = kPid;
    start.time_ns = 1'000;
    start.executable = trace.text("/bin/app");
    start.rank = start.rank_count = start.local_rank = -1;
    trace.add(start);
    return trace;
}

inline model::Run run_of(SyntheticTrace& trace) {
    std::vector<TraceReader> files;
    files.push_back(trace.open());
    return build_run(files, nullptr);
}

inline uint64_t samples_of(const model::Process& process) {
    uint64_t samples = 0;
    for (const model::SampleSite& site : process.samples)
        samples += site.samples;
    return samples;
}

} // namespace plumb::trace
