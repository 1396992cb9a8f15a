// What the tool itself took from the run, as far as it knows.
#pragma once

#include "model/call_paths.h"

#include <cstdint>

namespace plumb {

struct OwnTime { // CPU seconds
    double recorder = 0;  // by its own clock
    double sampling = 0;  // estimated per sample
    double switches = 0;  // estimated: the kernel's records of switches
    double loading = 0;   // estimated: the loader's work for the shim
    double shim = 0;      // inside the program
    double stand_ins = 0; // in code that counts unaligned accesses, the accesses included; sampled
    bool shim_was_sampled = false; // else estimated per event
    uint64_t samples = 0;

    double total() const { return recorder + sampling + switches + loading + shim + stand_ins; }
};

// The estimate of what the shim takes leaves out what its data displace from the caches: where samples saw more time in
// its code, and more than by chance, half of that is believed (why: own_time.cpp). Not
// thread-safe: `paths` remembers what it looked up.
OwnTime own_time_of(const model::CallPaths& paths);

// Whether this node of the process's call paths is code of the shim.
bool is_own_code(const model::CallPaths& paths, size_t process, uint32_t node);

} // namespace plumb
