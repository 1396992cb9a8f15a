// What a loop of the program takes on this machine, and what it would take if its data were aligned, or if it computed several numbers
// at once: its instructions run again on memory of plumb's own.
#pragma once

#include "record/access/loops/replayable_loop.h"
#include "record/access/replay/packed_form.h"
#include "record/access/replay/replay_variant.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

// The form of a replay whose rounds take what they took in the program; of those that do so alike the last one, and where it is not
// known (0), the one in which the change gains least. `forms`: one at least, those that add most to the loop first. Returns its place.
size_t form_like(std::span<const ReplayedPair> forms, uint64_t round_ps);

// With the addresses that were sampled, and with those of aligned_layout(). `rounds`: of a sweep over its memory, before it begins anew.
// `round_ps`: what a round took in the program, 0: not known. Takes about a millisecond in a child process, in which nothing but
// these instructions runs; they access only what was mapped for them. Not measured: see replay_code(), and where more than 4 MiB
// would be needed: what comes from memory is waited for, aligned or not.
ReplayedPair replay_aligned(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                            uint64_t round_ps);

struct ReplayedPacked {
    ReplayedPair packed;
    uint64_t unchained_ps = 0, wide_ps = 0; // of as much work as packed.other_ps; 0: not measured
    unsigned lanes = 0, vector_bytes = 0, chains = 0;
    bool made_adjacent = false;
};

// Likewise, as it is and as wide_form() makes it. Not measured (0) as well: this machine has no AVX2, or there is no such form.
ReplayedPair replay_wide(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                         uint64_t round_ps);

// Likewise, as it is and as packed_form() makes it; on numbers, not zeros. Up to some ten milliseconds.
ReplayedPacked replay_packed(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                             uint64_t round_ps);

} // namespace plumb::record
