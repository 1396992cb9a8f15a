// Time samples by function of the user's own programs and libraries, for those whose machine code is worth a look.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct FunctionSamples {
    struct Hit {
        uint64_t address = 0; // of the instruction, as `process` has it
        double time_ns = 0;
        uint64_t samples = 0;
        size_t process = 0; // where it was sampled
        uint32_t path = 0;  // index into Process::paths of that process
    };
    size_t process = 0; // index into Run::processes: one that ran it
    std::string name, module; // module: path of its file
    model::FunctionCode code; // addresses as in `process`
    std::vector<Hit> hits;    // of all processes
    double time_ns = 0;
};

// Functions with at least `least_ns` of sampled time, the costliest first. Not those of files that came with a distribution's
// packages, nor code made at run time; nor those whose code is not at hand.
std::vector<FunctionSamples> function_samples_of(model::CallPaths& paths, double least_ns);

} // namespace plumb
