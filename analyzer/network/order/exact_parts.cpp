#include "network/order/exact_parts.h"

#include <algorithm>
#include <unordered_map>

namespace plumb::network {

void make_exact(const Partners& partners, const std::vector<uint32_t>& sizes, std::vector<uint32_t>& part) {
    std::vector<std::vector<uint32_t>> ranks(sizes.size());
    for (uint32_t rank = 0; rank < part.size(); ++rank)
        ranks[part[rank]].push_back(rank);
    std::vector<size_t> left(sizes.size());
    std::vector<uint32_t> open; // parts with room
    for (uint32_t i = 0; i < sizes.size(); ++i) {
        left[i] = sizes[i] > ranks[i].size() ? sizes[i] - ranks[i].size() : 0;
        if (left[i] > 0)
            open.push_back(i);
    }
    std::unordered_map<uint32_t, uint64_t> bytes; // by part, of one rank
    const auto exchanged = [&](uint32_t rank) {
        bytes.clear();
        for (size_t at = partners.first[rank]; at < partners.first[rank + size_t{1}]; ++at)
            bytes[part[partners.ranks[at]]] += partners.bytes[at];
    };
    for (uint32_t from = 0; from < sizes.size(); ++from) {
        if (ranks[from].size() <= sizes[from])
            continue;
        std::vector<std::pair<uint64_t, uint32_t>> tied;
        for (const uint32_t rank : ranks[from]) {
            exchanged(rank);
            tied.emplace_back(bytes[from], rank);
        }
        std::ranges::sort(tied);
        tied.resize(ranks[from].size() - sizes[from]);
        for (const auto& [own, rank] : tied) {
            exchanged(rank);
            const auto most = [&](uint32_t to) {
                const auto found = bytes.find(to);
                return found == bytes.end() ? 0 : found->second;
            };
            const auto to = std::ranges::max_element(open, {}, most);
            part[rank] = *to;
            if (--left[*to] == 0)
                open.erase(to);
        }
    }
}

Partners together(const Partners& partners, const std::vector<uint32_t>& group_of, uint32_t groups) {
    std::vector<std::unordered_map<uint32_t, uint64_t>> between(groups);
    for (uint32_t rank = 0; rank < partners.count(); ++rank)
        for (size_t at = partners.first[rank]; at < partners.first[rank + size_t{1}]; ++at)
            if (const uint32_t other = group_of[partners.ranks[at]]; other != group_of[rank])
                between[group_of[rank]][other] += partners.bytes[at];
    Partners result;
    result.first.assign(1, 0);
    for (const auto& row : between) {
        std::vector<std::pair<uint32_t, uint64_t>> sorted(row.begin(), row.end());
        std::ranges::sort(sorted);
        for (const auto& [other, bytes] : sorted) {
            result.ranks.push_back(other);
            result.bytes.push_back(bytes);
        }
        result.first.push_back(result.ranks.size());
    }
    return result;
}

} // namespace plumb::network
