// Registers that count the rounds of a loop: what such a register moved on between two samples of a thread is how many rounds
// the thread made in between.
#pragma once

#include "record/access/code/code_region.h"

#include <cstdint>
#include <vector>

namespace plumb::record {

// Of a loop around a sampled instruction, which may hold inner loops.
struct LoopCounter {
    int64_t begin = 0, end = 0; // of its loop: first and last instruction, bytes from the sampled one
    int64_t step = 0;           // that each round adds to the register
    int8_t reg = -1;            // DWARF number
    bool narrow = false;        // only its lower 32 bits count
    unsigned level = 0;         // 0: the innermost loop, 1: the one around it, ...

    // What two values of the register say: rounds from the first to the second. 0: they are of different runs of the loop.
    uint64_t rounds(uint64_t first, uint64_t second) const;
};

// Two samples of one thread that follow one another.
struct RoundPair {
    uint64_t rounds = 0;  // from one to the other; 0: the loop began anew in between
    uint64_t time_ns = 0; // that passed
    uint64_t cpu_ns = 0;  // that samples of the thread stand for
};

// CPU time of one round, picoseconds. 0: the pairs are too few or too different to say, or the loop begins anew too often.
double round_time_ps(const std::vector<RoundPair>& pairs);

// By loops, the innermost first; at most one for each. A register counts if one instruction of the loop, which every round
// comes to once, adds a constant to it, and no other changes it.
std::vector<LoopCounter> counters_around(const CodeRegion& code, uint64_t sampled);

} // namespace plumb::record
