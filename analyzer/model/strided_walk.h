// Accesses of one instruction that walk through memory with a stride whose lines crowd into few sets of a cache.
#pragma once

#include "model/alignment.h"

#include <cstdint>

namespace plumb::model {

struct StridedWalk {
    uint64_t address = 0; // of the instruction
    AccessKind kind;      // of the walk: the loop may write what the instruction reads
    uint32_t cache_level = 0, ways = 0, line_bytes = 0, sets = 0;
    uint32_t sets_used = 0; // by the lines of one walk
    uint64_t samples = 0, time_ns = 0; // of the instruction
    uint64_t moved_samples = 0, moved_time_ns = 0; // of them, with this stride
    uint64_t stride = 0;  // bytes
    uint64_t length = 0;  // accesses of one walk
    uint64_t advance = 0; // bytes between walks, as a common divisor; 0: all begin at the same place, or rows apart
    uint64_t lowest_address = 0, highest_address = 0, last_address = 0; // of the data
    uint64_t padded_stride = 0;
    double seen_ns = 0, padded_ns = 0; // of one access of such walks, timed on this machine; 0: not measured
    uint64_t last_ns = 0; // when last_address was accessed
};

} // namespace plumb::model
