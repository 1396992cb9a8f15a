// Sources of evidence, tried one by one on this machine: each probe does the real thing on a small scale and says
// what came of it. Nothing is concluded from version numbers or settings alone; those only explain a refusal.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace plumb::platform {

struct ProbeResult {
    enum class State { ok, limited, missing };
    State state = State::ok;
    std::string why;    // what was tried and what came back
    std::string enable; // what would enable it; empty when nothing is needed or nothing helps
};

struct Probe {
    const char* source; // as in the evidence of reports
    const char* serves; // what the tool needs it for
    ProbeResult (*run)(); // never throws; takes less than a second
};

inline constexpr const char* kPerfSetting = "/proc/sys/kernel/perf_event_paranoid";

std::span<const Probe> sampling_probes(); // perf events, timers, hardware counters
std::span<const Probe> memory_probes();   // page nodes, NUMA nodes
std::span<const Probe> alignment_probes(); // the alignment trap and what serves it, addresses of accesses, split locks
std::span<const Probe> mpi_probes();      // MPI libraries
std::span<const Probe> system_probes();   // /proc, the scheduler's accounts, topology, files

// Runs `action` in a forked child, killed after two seconds: for what may fault or leave traces in the process.
// Returns its exit status, or -N when signal N ended it.
int run_in_child(const std::function<int()>& action);

} // namespace plumb::platform
