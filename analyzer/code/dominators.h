// Dominators of a control-flow graph, and the natural loops that they define.
#pragma once

#include "code/control_flow.h"

#include <cstddef>
#include <vector>

namespace plumb::code {

inline constexpr size_t kNoBlock = SIZE_MAX;

// For each block the one that all ways to it come through last before it, kNoBlock where there is none: of the first block, of
// what nothing leads to, and of blocks that jumps through tables lead to. Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm".
std::vector<size_t> immediate_dominators(const ControlFlow& flow);

// Whether all ways to `block` come through `above`; true where they are the same.
bool dominates(const std::vector<size_t>& dominators, size_t above, size_t block);

struct Loop {
    size_t header = 0;           // block that is entered
    std::vector<size_t> blocks;  // all, with those of inner loops; by number
    std::vector<size_t> latches; // those that lead back to the header
    size_t parent = SIZE_MAX;    // index of the loop around it; SIZE_MAX: there is none
    bool is_innermost = true;
    size_t exits = 0; // blocks of it that may lead out
};

// By header; two loops with the same one count as one. Loops that are entered at several places have no header: they are left
// out.
std::vector<Loop> natural_loops(const ControlFlow& flow, const std::vector<size_t>& dominators);

// Index of the innermost of `loops` that `block` is part of; SIZE_MAX: of none.
size_t innermost_loop(const std::vector<Loop>& loops, size_t block);

} // namespace plumb::code
