// What a strided walk costs on this machine, against the same walk with another stride: a calibration of some ten
// milliseconds.
#pragma once

#include <cstdint>

namespace plumb::record {

// Round after round over `accesses` places, `stride` bytes apart; each round begins `advance` bytes behind the last.
struct Walk {
    uint64_t stride = 0, padded_stride = 0; // bytes, multiples of 8
    uint64_t accesses = 0;
    uint64_t advance = 0; // 0: the same places again and again
    bool loads = true, stores = false;
    bool beyond_caches = false; // the data as a whole do not fit into the last cache: lines come from memory
};

struct WalkTime {
    uint64_t seen_ps = 0, padded_ps = 0; // of one access, the median of several repetitions; 0: not measured
};

// Times sums (or scalings, or stores) of doubles in CPU time of this process, both strides in turn. Medians, not
// the least: the program, too, runs beside whatever else the machine does. Takes at most some 100 MiB; walks that need more are
// not measured.
WalkTime time_walk(const Walk& walk);

} // namespace plumb::record
