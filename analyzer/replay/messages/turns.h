// Two ranks that work in turns: one waits for the other's message while that one works, and the other then waits while the
// first works. Chains (chains.h) need three ranks; two that take turns look like two ranks that are late now and then.
#pragma once

#include "replay/messages/messages.h"
#include "replay/messages/transfer_fit.h"

#include <optional>

namespace plumb::replay {

struct Turn {
    const PeerWait* before = nullptr; // how long the awaited rank had waited for the waiter
    Nanoseconds overlap = 0;          // what is saved when both work at the same time: the shorter of the two waits
};

// Shorter waits are no work that could overlap, but what messages take: ten times the latency of this job's messages.
Nanoseconds least_turn(const TransferFits& fits);

// `waiter` waits for `awaited` from `begin` to `end`. Nothing where the awaited rank had not waited for the waiter, where it
// worked at the same time as the waiter for a noticeable part of its work, or where one of the waits is shorter than `least`.
std::optional<Turn> turn_of(const MatchedMessages& messages, uint32_t waiter, uint32_t awaited, Nanoseconds begin,
                            Nanoseconds end, Nanoseconds least);

} // namespace plumb::replay
