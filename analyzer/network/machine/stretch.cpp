#include "network/machine/stretch.h"

namespace plumb::network {

Stretch shortest_stretch(const std::vector<bool>& used, bool wraps) {
    const auto size = static_cast<uint32_t>(used.size());
    std::vector<uint32_t> places;
    for (uint32_t place = 0; place < size; ++place)
        if (used[place])
            places.push_back(place);
    Stretch best{places.front(), places.back() - places.front() + 1};
    for (size_t i = 0; wraps && i + 1 < places.size(); ++i)
        if (const uint32_t without_gap = size - (places[i + 1] - places[i]) + 1; without_gap < best.size)
            best = {places[i + 1], without_gap};
    return best;
}

} // namespace plumb::network
