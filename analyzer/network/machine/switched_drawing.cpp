// Switches are drawn in rows: at the bottom those with nodes, above them those that are one cable further from the nodes, and so on.
#include "network/machine/switched_network.h"

#include <algorithm>

namespace plumb::network {

namespace {

constexpr double kRowsApart = 0.15; // of the width

} // namespace

Drawing SwitchedNetwork::drawing() const {
    Drawing drawing;
    drawing.places.resize(switches_.size());
    const std::vector<uint32_t> row = ranks();
    std::vector<uint32_t> in_row(std::ranges::max(row) + size_t{1}), seen(in_row.size());
    for (const uint32_t each : row)
        ++in_row[each];
    const double width = std::max<double>(1, std::ranges::max(in_row));
    for (uint32_t at = 0; at < switches_.size(); ++at) {
        const double step = width / in_row[row[at]];
        drawing.places[at].name = switches_[at];
        drawing.places[at].at = {(seen[row[at]]++ + 0.5) * step, row[at] * std::max(1.0, kRowsApart * width)};
    }
    for (NodeIndex node = 0; node < node_count(); ++node)
        drawing.places[switch_of_[node]].nodes.push_back(node);
    for (LinkIndex link = 2 * node_count(); link < links_.size(); ++link) {
        const Point &from = drawing.places[links_[link].from - node_count()].at, &to = drawing.places[links_[link].to - node_count()].at;
        drawing.links.push_back({link, from, middle(from, to)});
    }
    return drawing;
}

} // namespace plumb::network
