// The instructions of one round of the innermost loop around a sampled one, in the order in which they run.
#pragma once

#include "record/access/code/code_region.h"

#include <cstdint>
#include <vector>

namespace plumb::record {

struct LoopInstruction {
    uint64_t address = 0;
    shim::MemoryInstruction instruction;
};

// From `sampled` on until it is met again. Forward branches are not taken, calls come back, loops inside are taken to be
// over. Empty: it stands in no loop, or is not met again within some hundred instructions.
std::vector<LoopInstruction> round_of(const CodeRegion& code, uint64_t sampled);

} // namespace plumb::record
