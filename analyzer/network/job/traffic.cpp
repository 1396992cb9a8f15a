#include "network/job/traffic.h"

#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace plumb::network {

Traffic Traffic::of(uint32_t ranks, std::vector<PairTraffic> pairs) {
    for (const PairTraffic& pair : pairs)
        if (pair.from >= ranks || pair.to >= ranks)
            throw Error(fmt::format("messages from rank {} to rank {}: the ranks are 0 to {}", pair.from, pair.to, int64_t{ranks} - 1));
    std::erase_if(pairs, [](const PairTraffic& pair) { return pair.from == pair.to; });
    const auto key = [](const PairTraffic& pair) { return std::tie(pair.to, pair.from); };
    if (!std::ranges::is_sorted(pairs, {}, key))
        std::ranges::sort(pairs, {}, key);
    size_t kept = 0;
    for (size_t i = 0; i < pairs.size(); ++i)
        if (kept > 0 && key(pairs[kept - 1]) == key(pairs[i])) {
            pairs[kept - 1].messages += pairs[i].messages;
            pairs[kept - 1].bytes += pairs[i].bytes;
        } else {
            pairs[kept++] = pairs[i];
        }
    pairs.resize(kept);
    return {ranks, std::move(pairs)};
}

uint64_t Traffic::bytes() const {
    uint64_t sum = 0;
    for (const PairTraffic& pair : pairs)
        sum += pair.bytes;
    return sum;
}

uint64_t Traffic::messages() const {
    uint64_t sum = 0;
    for (const PairTraffic& pair : pairs)
        sum += pair.messages;
    return sum;
}

// Counted, then filled in: no copy of all pairs is sorted.
Partners::Partners(const Traffic& traffic) : first(traffic.ranks + size_t{1}, 0) {
    std::vector<size_t> begin(traffic.ranks + size_t{1}, 0);
    for (const PairTraffic& pair : traffic.pairs) {
        ++begin[pair.from + size_t{1}];
        ++begin[pair.to + size_t{1}];
    }
    for (uint32_t rank = 0; rank < traffic.ranks; ++rank)
        begin[rank + size_t{1}] += begin[rank];
    ranks.resize(begin.back());
    bytes.resize(begin.back());
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (const PairTraffic& pair : traffic.pairs) {
        ranks[next[pair.from]] = pair.to;
        bytes[next[pair.from]++] = pair.bytes;
        ranks[next[pair.to]] = pair.from;
        bytes[next[pair.to]++] = pair.bytes;
    }
    std::vector<std::pair<uint32_t, uint64_t>> own;
    size_t kept = 0;
    for (uint32_t rank = 0; rank < traffic.ranks; ++rank) {
        own.clear();
        for (size_t i = begin[rank]; i < begin[rank + size_t{1}]; ++i)
            own.emplace_back(ranks[i], bytes[i]);
        std::ranges::sort(own);
        first[rank] = kept;
        for (size_t i = 0; i < own.size(); ++i)
            if (i > 0 && own[i].first == own[i - 1].first) {
                bytes[kept - 1] += own[i].second;
            } else {
                ranks[kept] = own[i].first; // kept never passes what is still to be read
                bytes[kept++] = own[i].second;
            }
    }
    first.back() = kept;
    ranks.resize(kept);
    bytes.resize(kept);
}

} // namespace plumb::network
