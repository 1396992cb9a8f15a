// What the charts show: which CPU each thread was on, and how busy each CPU was. Bounded however long and
// wide the run was: the page stays a few hundred KiB.
#pragma once

#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

struct LaneSpan { // seconds from the run's begin
    double begin = 0, end = 0;
    int cpu = -1;
    double running = 0, waiting = 0; // fractions of the span: on a CPU; runnable without one
    uint32_t migrations = 0;
};

struct Lane { // one thread
    std::string process, thread;
    std::vector<LaneSpan> spans;
};

struct CpuSpan {
    double begin = 0, end = 0;
    double own = 0, other = 0, interrupt = 0, steal = 0; // fractions of the span
};

struct CpuRow {
    std::string host; // empty when the run had one host
    int cpu = 0;
    bool allowed = false;
    std::vector<CpuSpan> spans;
};

struct CpuTimeline {
    double seconds = 0;
    std::vector<Lane> lanes;
    size_t lanes_left_out = 0; // threads that did least
    std::vector<CpuRow> cpus;
    size_t cpus_left_out = 0; // CPUs that did least
};

struct CpuTimelineLimits {
    size_t lanes = 64, lane_spans = 2000;
    size_t cpus = 128, cpu_spans = 2000;
};

// Threads with most CPU time, waiting and migrations are kept, in the order of processes and their start.
// Where there are more spans than the limit, neighbours are joined: on the CPU where most of their time was
// spent.
CpuTimeline build_cpu_timeline(const model::Run& run, const CpuTimelineLimits& limits = {});

} // namespace plumb
