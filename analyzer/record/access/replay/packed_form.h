// A loop that computes one floating point number at a time, rewritten so that each instruction computes several: what a compiler
// would make of it if nothing stood in the way. For its time alone; what it computes is of no use.
#pragma once

#include "record/access/loops/replayable_loop.h"

#include <optional>
#include <span>
#include <vector>

namespace plumb::record {

struct PackedForm {
    std::vector<ReplayInstruction> instructions;
    std::vector<LoopAccess> accesses;
    unsigned lanes = 0;         // elements at once; one round does the work of so many rounds of the loop
    unsigned vector_bytes = 0;
    unsigned element_bytes = 0; // of the widest
    unsigned chains = 0;        // vector registers that it carries from round to round: sums and the like
    bool made_adjacent = false; // some elements lie apart in the loop, and side by side here
};

// Whether it computes floating point numbers, all of them one at a time.
bool computes_scalars(std::span<const ReplayInstruction> instructions);

enum class PackedWidth { as_encoded, wide }; // wide: twice what instructions of this encoding take, with AVX
// `copies`: of each round in a row, with registers of their own for what is carried over: their sums wait side by side; they count as
// `lanes`. Nothing: an instruction has no packed counterpart (conversions to integers or from general registers, elements moved
// within a vector), one stores to the same place in every round, or what a later one of these rounds loads, too few registers are
// left, or the decoder is missing.
std::optional<PackedForm> packed_form(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses,
                                      PackedWidth width, unsigned copies);

} // namespace plumb::record
