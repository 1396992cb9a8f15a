// Groups are drawn on a circle, the routers of each as the block of rows and columns that it is. Links within a group that skip routers
// lie above those between neighbours.
#include "network/machine/dragonfly.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plumb::network {

Drawing Dragonfly::drawing() const {
    Drawing drawing;
    drawing.places.resize(place_count());
    const double block = std::hypot(rows_, columns_) + 1;
    const double radius = groups_ > 1 ? block / (2 * std::sin(std::numbers::pi / std::max(groups_, 2u))) : 0;
    for (uint32_t router = 0; router < drawing.places.size(); ++router) {
        const double angle = 2 * std::numbers::pi * group_of(router) / groups_;
        const uint32_t within = router % in_group();
        drawing.places[router].name = router_name(router);
        drawing.places[router].at = {radius * std::cos(angle) + within % columns_ - (columns_ - 1) / 2.0,
                                     radius * std::sin(angle) + within / columns_ - (rows_ - 1) / 2.0};
    }
    for (NodeIndex node = 0; node < node_count(); ++node)
        drawing.places[routers_[node]].nodes.push_back(node);
    for (LinkIndex link = 0; link < link_count(); ++link) {
        const auto [from, to] = places_of_link(link);
        const bool is_within = group_of(from) == group_of(to);
        if (is_within && (link >= groups_ * local_links() || local_hops(from % in_group(), to % in_group()) != 1))
            continue; // there is no such cable
        drawing.links.push_back({link, drawing.places[from].at, middle(drawing.places[from].at, drawing.places[to].at)});
    }
    return drawing;
}

} // namespace plumb::network
