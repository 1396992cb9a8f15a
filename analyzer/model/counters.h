// What counters of the CPUs and the kernel counted, slice by slice: groups of events took turns; and where in the code.
#pragma once

#include <cstdint>
#include <string>

namespace plumb::model {

struct CounterSlice {
    std::string event; // "cycles", "instructions", ...
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t count = 0;
    uint32_t pid = 0;   // that it was counted for, with all that it started
    uint32_t group = 0; // slices of the same pid, group and beginning were counted together
    bool by_papi = false;
};

// Where in a process an event happened, by samples that each stand for so many of it.
struct CounterSite {
    std::string event;   // as in CounterSlice
    uint32_t thread = 0; // index into Process::threads
    uint32_t path = 0;   // index into Process::paths: the instruction, or one of the next few
    uint64_t samples = 0, events = 0;
};

// How many samples of an event were taken somewhere: of some of all its samples, each as likely as any other to be among them.
struct CounterSamples {
    std::string event; // as in CounterSite
    uint64_t count = 0;
};

} // namespace plumb::model
