#include "network/job/allocation.h"

#include "network/machine/stretch.h"
#include "network/machine/torus.h"

#include <algorithm>
#include <numeric>

namespace plumb::network {

namespace {

constexpr size_t kMostAimedAt = 256; // nodes, for a mean
constexpr size_t kSeeds = 8;         // nodes around which a compact allocation is looked for

std::vector<bool> places_with(const Network& network, std::span<const NodeIndex> nodes) {
    std::vector<bool> used(network.place_count(), false);
    for (const NodeIndex node : nodes)
        used[network.place_of(node)] = true;
    return used;
}

// To an even choice of them from all.
double mean_hops_between(const Network& network, std::span<const NodeIndex> nodes) {
    if (nodes.size() < 2)
        return 0;
    const std::unique_ptr<RoutesTo> routes = network.routes();
    const size_t aims = std::min(nodes.size(), kMostAimedAt);
    double sum = 0;
    for (size_t i = 0; i < aims; ++i) {
        routes->aim_at(nodes[i * nodes.size() / aims]);
        for (const NodeIndex from : nodes)
            sum += routes->hops_from(from);
    }
    return sum / static_cast<double>(aims) / static_cast<double>(nodes.size() - 1);
}

// The nodes nearest to one, for a few of the machine's nodes: the best of them.
double compact_mean_hops(const Network& network, size_t count) {
    std::vector<uint32_t> hops(network.node_count());
    std::vector<NodeIndex> order(network.node_count());
    const std::unique_ptr<RoutesTo> routes = network.routes();
    double least = 0;
    const size_t seeds = std::min<size_t>(kSeeds, network.node_count());
    for (size_t i = 0; i < seeds; ++i) {
        routes->aim_at(static_cast<NodeIndex>(i * network.node_count() / seeds));
        for (NodeIndex node = 0; node < network.node_count(); ++node)
            hops[node] = routes->hops_from(node);
        std::iota(order.begin(), order.end(), NodeIndex{0});
        std::ranges::stable_sort(order, {}, [&](NodeIndex node) { return hops[node]; });
        const double mean = mean_hops_between(network, std::span(order).first(count));
        least = i == 0 ? mean : std::min(least, mean);
    }
    return least;
}

uint32_t pieces_of(const Network& network, const std::vector<bool>& used) {
    std::vector<bool> seen(used.size(), false);
    std::vector<uint32_t> reached, neighbours;
    uint32_t pieces = 0;
    for (uint32_t first = 0; first < used.size(); ++first) {
        if (!used[first] || seen[first])
            continue;
        ++pieces;
        seen[first] = true;
        reached.assign(1, first);
        for (size_t i = 0; i < reached.size(); ++i) {
            neighbours.clear();
            network.append_neighbours(reached[i], neighbours);
            for (const uint32_t next : neighbours)
                if (used[next] && !seen[next]) {
                    seen[next] = true;
                    reached.push_back(next);
                }
        }
    }
    return pieces;
}

Box box_of(const Torus& torus, std::span<const NodeIndex> nodes) {
    Box box;
    std::vector<Stretch> stretches;
    const auto place = [&](NodeIndex node, size_t dimension) {
        return torus.place_on_cable(dimension, torus.coordinate(torus.router_of(node), dimension));
    };
    for (size_t i = 0; i < torus.dimensions().size(); ++i) {
        std::vector<bool> used(torus.dimensions()[i].size, false);
        for (const NodeIndex node : nodes)
            used[place(node, i)] = true;
        stretches.push_back(shortest_stretch(used, torus.dimensions()[i].wraps));
        box.sizes.push_back(stretches.back().size);
    }
    for (NodeIndex node = 0; node < torus.node_count(); ++node) {
        bool is_inside = true;
        for (size_t i = 0; i < stretches.size() && is_inside; ++i)
            is_inside = stretches[i].contains(place(node, i), torus.dimensions()[i].size);
        box.nodes += is_inside;
    }
    return box;
}

} // namespace

Allocation allocation_of(const Network& network, std::span<const NodeIndex> nodes) {
    Allocation allocation;
    if (nodes.empty())
        return allocation;
    const std::vector<bool> used = places_with(network, nodes);
    allocation.nodes = static_cast<uint32_t>(nodes.size());
    allocation.places = static_cast<uint32_t>(std::ranges::count(used, true));
    allocation.pieces = pieces_of(network, used);
    allocation.mean_hops = mean_hops_between(network, nodes);
    allocation.compact_mean_hops = std::min(allocation.mean_hops, compact_mean_hops(network, nodes.size()));
    if (const auto* torus = dynamic_cast<const Torus*>(&network))
        allocation.box = box_of(*torus, nodes);
    return allocation;
}

double shared_link_share(const Network& network, std::span<const NodeIndex> nodes, const std::vector<double>& link_bytes) {
    const std::vector<bool> used = places_with(network, nodes);
    const auto is_own = [&](uint32_t place) { return place != Network::kShared && used[place]; };
    double all = 0, shared = 0;
    for (LinkIndex link = 0; link < link_bytes.size(); ++link) {
        if (link_bytes[link] <= 0)
            continue;
        const auto [from, to] = network.places_of_link(link);
        all += link_bytes[link];
        if (!is_own(from) || !is_own(to))
            shared += link_bytes[link];
    }
    return all > 0 ? shared / all : 0;
}

} // namespace plumb::network
