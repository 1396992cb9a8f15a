#include "symbols/dwarf/nested_ranges.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace plumb::symbols {

// Sweeps over all begins and ends with the set of open ranges, the innermost first: where that changes a piece begins.
NestedRanges::NestedRanges(const std::vector<Range>& ranges) {
    struct Bound {
        uint64_t address;
        bool opens;
        size_t range;
    };
    std::vector<Bound> bounds;
    for (size_t i = 0; i < ranges.size(); ++i)
        if (ranges[i].begin < ranges[i].end) {
            bounds.push_back({ranges[i].begin, true, i});
            bounds.push_back({ranges[i].end, false, i});
        }
    std::ranges::sort(bounds, {}, &Bound::address);
    const auto rank = [&](size_t i) { return std::tuple(ranges[i].end - ranges[i].begin, ~ranges[i].begin, i); };
    std::set<decltype(rank(0))> open;
    for (size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].opens)
            open.insert(rank(bounds[i].range));
        else
            open.erase(rank(bounds[i].range));
        if (i + 1 < bounds.size() && bounds[i + 1].address == bounds[i].address)
            continue;
        const size_t innermost = open.empty() ? kNone : std::get<2>(*open.begin());
        if (pieces_.empty() || pieces_.back().range != innermost)
            pieces_.push_back({bounds[i].address, innermost});
    }
}

std::optional<size_t> NestedRanges::at(uint64_t address) const {
    const auto after = std::ranges::upper_bound(pieces_, address, {}, &Piece::begin);
    if (after == pieces_.begin() || std::prev(after)->range == kNone)
        return std::nullopt;
    return std::prev(after)->range;
}

} // namespace plumb::symbols
