// The control-flow graph of one function: its instructions, cut into blocks that are only entered at their first one.
#pragma once

#include "code/instruction.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plumb::code {

struct Block {
    size_t begin = 0, end = 0; // indexes of instructions; the end is not part of it
    std::vector<size_t> successors, predecessors; // indexes of blocks
};

struct ControlFlow {
    std::vector<Instruction> instructions; // by address, without gaps
    std::vector<Block> blocks;             // by address; the first is where the function begins

    // Index of the block whose code holds `address`.
    std::optional<size_t> block_at(uint64_t address) const;
};

// `code` is that of one function, from `start` on. What does not decode ends it. Jumps out of the function are its ends; where
// jumps through tables lead to is not known: such blocks have no predecessor. About 3 us an instruction.
ControlFlow control_flow_of(uint64_t start, std::span<const uint8_t> code);

} // namespace plumb::code
