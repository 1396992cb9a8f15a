// How many messages a rank sends to one other in a burst: they could be one message.
#include "replay/messages/messages.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace plumb::replay {

namespace {

constexpr Nanoseconds kBurst = 25'000; // between the begins of two sends: about a round trip
constexpr Nanoseconds kWork = 10'000;  // outside of message calls between them: more is work that the other rank may wait for

struct Call {
    Nanoseconds begin, end;
};

// How long a rank was in none of the calls that complete its messages between two moments. `calls`: by begin.
Nanoseconds time_outside(const std::vector<Call>& calls, Nanoseconds from, Nanoseconds to) {
    Nanoseconds outside = 0, until = from;
    for (auto call = std::ranges::lower_bound(calls, from, {}, &Call::begin); call != calls.end() && call->begin < to; ++call) {
        outside += std::max<Nanoseconds>(0, call->begin - until);
        until = std::max(until, call->end);
    }
    return outside + std::max<Nanoseconds>(0, to - until);
}

} // namespace

double MessageEnds::messages_in_burst() {
    std::unordered_map<uint32_t, std::vector<Call>> calls; // by row
    for (const End& end : ends_)
        calls[end.sent() ? end.sender : end.receiver].push_back({end.wait, end.end});
    for (auto& [row, own] : calls)
        std::ranges::sort(own, {}, &Call::begin);
    std::ranges::sort(ends_, [](const End& left, const End& right) {
        const bool left_received = !left.sent(), right_received = !right.sent();
        return std::tie(left_received, left.sender, left.receiver, left.begin, left.comm, left.tag, left.sequence) <
               std::tie(right_received, right.sender, right.receiver, right.begin, right.comm, right.tag, right.sequence);
    });
    // Of one channel, those left out between two kept ones are taken to have come evenly. Those of other channels that were left
    // out are as many more as each kept one stands for.
    uint64_t sends = 0, messages = 0, bursts = 0, neighbours = 0;
    size_t first_near = 0;
    for (size_t i = 0; i < ends_.size() && ends_[i].sent(); ++i, ++sends) {
        const End& end = ends_[i];
        const bool same_pair = i > 0 && ends_[i - 1].sender == end.sender && ends_[i - 1].receiver == end.receiver;
        if (!same_pair)
            first_near = i;
        while (end.begin - ends_[first_near].begin > kBurst)
            ++first_near;
        neighbours += 2 * (i - first_near); // each is one of the other, too
        const End* before = same_pair ? &ends_[i - 1] : nullptr;
        const bool same_channel = before && before->comm == end.comm && before->tag == end.tag && end.sequence > before->sequence;
        const uint64_t count = same_channel ? end.sequence - before->sequence : 1;
        const bool goes_on = before && static_cast<uint64_t>((end.begin - before->begin) / kBurst) < count &&
                             (count > 1 || time_outside(calls[end.sender], before->begin, end.begin) <= kWork);
        messages += goes_on ? count : 1;
        bursts += !goes_on;
    }
    if (bursts == 0)
        return 0;
    const double in_row = static_cast<double>(messages) / static_cast<double>(bursts);
    const auto weight = static_cast<double>(one_in_ * job_->message_stride);
    return weight > 1 ? std::max(in_row, 1 + weight * static_cast<double>(neighbours) / static_cast<double>(sends)) : in_row;
}

} // namespace plumb::replay
