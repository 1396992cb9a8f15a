// `plumb system`: records for a time what runs on the CPUs of this machine, whoever runs it. Starts no program and touches none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct SystemOptions {
    std::vector<std::string> command; // as it is recorded
    std::string run_directory;        // empty: named after the time
    std::string cpus = "all";         // that are looked at, or a list
    uint64_t time_ns = 60'000'000'000;
    double rate_hz = 241;
    bool is_light = false; // goes on for weeks: no source lines of programs, and looks into /proc take at most 1/5000 of a CPU
    bool force = false, redact = false, progress = false; // progress: on stderr
};

struct SystemOutcome {
    std::string run_directory;
    bool ended_early = false; // by a signal
};

// Ends after the time, or with SIGINT, SIGTERM or SIGHUP. Throws Error: the directory cannot be made, a CPU is not there.
SystemOutcome record_system(const SystemOptions& options);

} // namespace plumb::record
