// What a rank waited for others' messages between two of its collectives.
#pragma once

#include "replay/messages/chains.h"
#include "replay/events/events.h"

#include <algorithm>

namespace plumb::replay {

// Since its last collective.
struct WindowWaits {
    Nanoseconds sum = 0;
    const PeerWait* longest = nullptr;
};

// Calls visitor(const PeerWait&, Nanoseconds) for each wait that ended between the event's last collective and its begin,
// with the part of it that lies there.
template <class Visitor>
void for_each_wait_before(const MatchedMessages& messages, uint32_t row, const Collective& event, const Visitor& visitor) {
    const Nanoseconds begin = event.begin - event.gap;
    for (Nanoseconds end = event.begin; const PeerWait* wait = last_wait(messages, row, begin, end); end = wait->begin)
        visitor(*wait, wait->end - std::max(begin, wait->begin));
}

inline WindowWaits waits_before(const MatchedMessages& messages, uint32_t row, const Collective& event) {
    WindowWaits waits;
    for_each_wait_before(messages, row, event, [&](const PeerWait& wait, Nanoseconds length) {
        accumulate(waits.sum, length);
        if (!waits.longest || wait.length() > waits.longest->length())
            waits.longest = &wait;
    });
    return waits;
}

} // namespace plumb::replay
