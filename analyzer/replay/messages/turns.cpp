#include "replay/messages/turns.h"

#include "replay/messages/chains.h"

#include <algorithm>

namespace plumb::replay {

namespace {

constexpr Nanoseconds kLatencies = 10;
constexpr Nanoseconds kUnknownLatency = 2'000; // where too few messages tell it
constexpr double kAtTheSameTime = 0.2; // of the awaited rank's work

Nanoseconds latency_of(const model::MpiTransferFit& fit) {
    return fit.known ? static_cast<Nanoseconds>(fit.latency_s * 1e9) : 0;
}

} // namespace

Nanoseconds least_turn(const TransferFits& fits) {
    const Nanoseconds latency = std::max(latency_of(fits.within_host), latency_of(fits.between_hosts));
    return kLatencies * (latency > 0 ? latency : kUnknownLatency);
}

std::optional<Turn> turn_of(const MatchedMessages& messages, uint32_t waiter, uint32_t awaited, Nanoseconds begin,
                            Nanoseconds end, Nanoseconds least) {
    const Nanoseconds length = end - begin;
    if (length < least)
        return {};
    const auto same_time = static_cast<Nanoseconds>(kAtTheSameTime * static_cast<double>(length));
    const PeerWait* before = last_wait(messages, awaited, begin - same_time, end);
    if (!before || before->awaited != waiter || before->length() < least)
        return {};
    return Turn{before, std::min(before->length(), length)};
}

} // namespace plumb::replay
