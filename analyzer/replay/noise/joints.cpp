#include "replay/noise/joints.h"

#include <algorithm>

namespace plumb::replay {

Joints::Joints(const Job& job, const EpochTable& table)
    : place_of(table.epochs().size(), kNoPlace), all_are_here(table.stride() == 1) {
    std::vector<uint32_t> order;
    for (uint32_t at = 0; at < table.epochs().size(); ++at) {
        const Epoch& epoch = table.epochs()[at];
        if (epoch.complete && (epoch.kind & trace::kMpiSynchronising) && !epoch.is_neighbour() &&
            epoch.arrivals >= static_cast<uint32_t>(std::max(2, job.size)))
            order.push_back(at);
    }
    std::ranges::stable_sort(order, {}, [&](uint32_t at) { return table.epochs()[at].last.begin; });
    for (const uint32_t at : order) {
        const Epoch& epoch = table.epochs()[at];
        place_of[at] = static_cast<uint32_t>(arrival.size());
        arrival.push_back(epoch.last.begin);
    }
}

} // namespace plumb::replay
