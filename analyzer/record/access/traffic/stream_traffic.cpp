#include "record/access/traffic/stream_traffic.h"

#include "support/magnitude.h"

#include <algorithm>
#include <set>

namespace plumb::record {

namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kNear = 4096; // bytes behind the leader: in a cache, however much else the loop touches

uint64_t line_bytes_of(std::span<const StreamPosition> positions, const Stream& stream) {
    const uint64_t step = magnitude(positions[stream.leader].round);
    if (step <= kLine)
        return step;
    std::set<uint64_t> lines; // of one step's length: accesses a step apart touch each other's lines in other rounds
    for (const size_t member : stream.members) {
        const StreamPosition& position = positions[member];
        const uint64_t last = position.address + std::max<uint64_t>(position.width, 1) - 1;
        for (uint64_t line = position.address / kLine; line <= last / kLine; ++line)
            lines.insert(line * kLine % step / kLine);
    }
    return std::min(step, lines.size() * kLine);
}

// `reach`: how far behind a line is still found, in rounds of the loop.
std::vector<Stream> grouped(std::span<const StreamPosition> positions, double reach) {
    std::vector<size_t> order;
    for (size_t i = 0; i < positions.size(); ++i)
        if (positions[i].round != 0)
            order.push_back(i);
    // By step, and from the front backwards.
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
        const StreamPosition &first = positions[a], &second = positions[b];
        if (first.round != second.round)
            return first.round < second.round;
        return first.round > 0 ? first.address > second.address : first.address < second.address;
    });
    std::vector<Stream> streams;
    const StreamPosition* ahead = nullptr;
    for (const size_t i : order) {
        const StreamPosition& position = positions[i];
        const uint64_t step = magnitude(position.round);
        const uint64_t behind = ahead ? magnitude(static_cast<int64_t>(ahead->address - position.address)) : 0;
        const bool follows = ahead && ahead->round == position.round &&
                             (behind < kNear || static_cast<double>(behind) <= reach * static_cast<double>(step));
        if (!follows) {
            streams.emplace_back();
            streams.back().leader = i;
            streams.back().past_caches = true;
        }
        Stream& stream = streams.back();
        stream.members.push_back(i);
        stream.loads |= position.load;
        stream.stores |= position.store;
        stream.past_caches &= !position.store || position.past_caches;
        ahead = &position;
    }
    for (Stream& stream : streams) {
        stream.past_caches &= stream.stores;
        stream.line_bytes = line_bytes_of(positions, stream);
    }
    return streams;
}

} // namespace

std::vector<Stream> streams_of(std::span<const StreamPosition> positions, uint64_t cache_bytes) {
    uint64_t round_bytes = 0;
    for (const Stream& stream : grouped(positions, 0))
        round_bytes += stream.line_bytes;
    return grouped(positions, round_bytes > 0 ? static_cast<double>(cache_bytes) / static_cast<double>(round_bytes) : 0);
}

} // namespace plumb::record
