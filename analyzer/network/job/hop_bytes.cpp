#include "network/job/hop_bytes.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace plumb::network {

namespace {

constexpr uint32_t kNotWanted = std::numeric_limits<uint32_t>::max();

// Calls `each` with every pair and the routes aimed at where it goes. Pairs are ordered by that.
template <class Each> void for_each_pair(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of, Each each) {
    const std::unique_ptr<RoutesTo> routes = network.routes();
    uint32_t aimed_at = traffic.ranks;
    for (const PairTraffic& pair : traffic.pairs) {
        if (pair.to != aimed_at) {
            routes->aim_at(node_of[pair.to]);
            aimed_at = pair.to;
        }
        each(pair, *routes, node_of[pair.from]);
    }
}

} // namespace

HopBytes hop_bytes(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of, bool links) {
    HopBytes sum;
    if (links)
        sum.link_bytes.assign(network.link_count(), 0);
    std::vector<LinkIndex> passed;
    double farthest = -1;
    for_each_pair(network, traffic, node_of, [&](const PairTraffic& pair, const RoutesTo& routes, NodeIndex from) {
        const uint32_t hops = routes.hops_from(from);
        const auto bytes = static_cast<double>(pair.bytes);
        sum.bytes += bytes;
        sum.messages += static_cast<double>(pair.messages);
        sum.hop_bytes += bytes * hops;
        sum.hop_messages += static_cast<double>(pair.messages) * hops;
        if (from != node_of[pair.to])
            sum.leaving_bytes += bytes;
        sum.most_hops = std::max(sum.most_hops, hops);
        if (bytes * hops > farthest) {
            farthest = bytes * hops;
            sum.farthest = pair;
            sum.farthest_hops = hops;
        }
        if (!links || hops == 0)
            return;
        passed.clear();
        routes.append_links_from(from, passed);
        for (const LinkIndex link : passed)
            sum.link_bytes[link] += bytes;
    });
    return sum;
}

std::vector<LoadedLink> heaviest_links(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of,
                                       const std::vector<double>& link_bytes, size_t most, size_t most_pairs) {
    std::vector<LinkIndex> order;
    for (LinkIndex link = 0; link < link_bytes.size(); ++link)
        if (link_bytes[link] > 0)
            order.push_back(link);
    const auto heaviest = [&](LinkIndex link) { return std::pair(-link_bytes[link] / network.cables(link), link); };
    const size_t count = std::min(most, order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), {}, heaviest);
    order.resize(count);
    std::vector<LoadedLink> loaded;
    std::vector<uint32_t> number(link_bytes.size(), kNotWanted); // in `loaded`
    for (const LinkIndex link : order) {
        number[link] = static_cast<uint32_t>(loaded.size());
        loaded.push_back({link, link_bytes[link], {}});
    }
    const auto by_bytes = [](const PairTraffic& pair) { return std::tuple(~pair.bytes, pair.from, pair.to); };
    const auto trim = [&](std::vector<PairTraffic>& pairs) {
        std::ranges::sort(pairs, {}, by_bytes);
        pairs.resize(std::min(pairs.size(), most_pairs));
    };
    std::vector<LinkIndex> passed;
    for_each_pair(network, traffic, node_of, [&](const PairTraffic& pair, const RoutesTo& routes, NodeIndex from) {
        passed.clear();
        routes.append_links_from(from, passed);
        for (const LinkIndex link : passed)
            if (number[link] != kNotWanted) {
                std::vector<PairTraffic>& pairs = loaded[number[link]].pairs;
                pairs.push_back(pair);
                if (pairs.size() > 2 * most_pairs + 64)
                    trim(pairs);
            }
    });
    for (LoadedLink& each : loaded)
        trim(each.pairs);
    return loaded;
}

} // namespace plumb::network
