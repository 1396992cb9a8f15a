// What a loop of the program takes on this machine, and what it would take if its data were aligned: its instructions run again
// on memory of plumb's own, with the addresses that were sampled and with those of aligned_layout().
#pragma once

#include "record/access/loops/replayable_loop.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

struct ReplayedLoop {
    uint64_t seen_ps = 0, aligned_ps = 0; // of one round, 0: not measured
    uint64_t spread_ps = 0;               // the standard error of aligned_ps
};

// The form of a replay whose rounds take what they took in the program; of those that do so alike the last one, and where it is not
// known (0), the one in which alignment gains least. `forms`: one at least, those that add most to the loop first.
ReplayedLoop form_like(std::span<const ReplayedLoop> forms, uint64_t round_ps);

// `rounds`: of a sweep over its memory, before it begins anew. `round_ps`: what a round took in the program, 0: not known. Takes
// about a millisecond in a child process, in which nothing but these instructions runs; they access only what was mapped for
// them. Not measured: see replay_code(), and where more than 4 MiB would be needed: what comes from memory is waited for,
// aligned or not.
ReplayedLoop replay_loop(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses,
                         uint64_t rounds, uint64_t round_ps);

} // namespace plumb::record
