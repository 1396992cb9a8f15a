// How many rounds a loop makes each time it is entered, from the samples in it and around it.
#pragma once

#include "code/dominators.h"

#include <cstdint>
#include <vector>

namespace plumb {

struct BlockSamples { // of one block of a function
    double time_ns = 0;
    uint64_t samples = 0;
};

// An estimate: an instruction in the loop takes as long as one on the way in or out, which runs once where that runs in every
// round. 0: too few samples lie on the way to say, so that there are many rounds.
double rounds_of(const code::ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<code::Loop>& loops, size_t loop,
                 const std::vector<BlockSamples>& samples);

} // namespace plumb
