// Loads that poll: a loop comes back to them until another thread has written there.
#pragma once

#include "record/access/code/code_region.h"

#include <cstdint>

namespace plumb::record {

// Whether the code behind the load comes back to it with the same address, without any store outside of the stack frame, and is
// left by a jump that depends on what was loaded. A loop that computes with a value which it reads again each time does not poll,
// nor does one that ends after a number of rounds. Both ways of forward branches are tried, within a few instructions: what needs
// more is taken for work. `operand`: of `loading`, which stands at `load`.
bool polls(const CodeRegion& code, uint64_t load, const shim::MemoryInstruction& loading, const shim::MemoryOperand& operand);

} // namespace plumb::record
