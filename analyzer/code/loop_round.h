// The blocks of a loop in the order of one round, and which of them every round comes to.
#pragma once

#include "code/dominators.h"

#include <vector>

namespace plumb::code {

struct RoundBlock {
    size_t block = 0;
    bool always = false; // every round comes to it, once: it is part of no inner loop
};

// The header first, each block behind those that lead to it within the round; ways back of inner loops are left out.
std::vector<RoundBlock> round_of(const ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<Loop>& loops,
                                 const Loop& loop);

} // namespace plumb::code
