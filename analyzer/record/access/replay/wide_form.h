// A loop that computes with vectors of 16 bytes, rewritten for vectors of 32: what a compiler would make of it for a processor with
// AVX2. For its time alone; what it computes is of no use.
#pragma once

#include "record/access/replay/packed_form.h"

namespace plumb::record {

// Whether all its floating point arithmetic is in vectors of 16 bytes, encoded without AVX: it was not compiled for a processor that
// has more, and nothing else stands in the way.
bool computes_narrow(std::span<const ReplayInstruction> instructions);

// Of a loop that computes_narrow(); PackedForm::lanes is 2. Nothing: one stores to the same place in every round, or what the next round
// loads, the vectors do not lie side by side, or the decoder is missing.
std::optional<PackedForm> wide_form(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses);

} // namespace plumb::record
