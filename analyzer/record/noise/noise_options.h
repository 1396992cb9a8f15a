// What `plumb noise` was asked to measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct NoiseOptions {
    uint64_t quantum_ns = 1'000'000;
    uint64_t time_ns = 10'000'000'000;
    std::string cpus = "all"; // or a list
    std::string run_directory; // empty: named after the time
    bool force = false, redact = false;
    bool progress = false; // on stderr
    std::vector<std::string> command; // as it is recorded
};

struct NoiseOutcome {
    std::string run_directory;
    bool last = true; // no other process of this measurement goes on: the report is due
    bool ended_early = false; // by a signal
};

} // namespace plumb::record
