#include "network/machine/dragonfly.h"

#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::network {

namespace {

constexpr uint64_t kMostLinks = uint64_t{1} << 28;

} // namespace

// A router's neighbours within its group share its row or its column; a way to any other turns in the row of the first.
class DragonflyRoutes : public RoutesTo {
  public:
    explicit DragonflyRoutes(const Dragonfly& network) : network_(network) {}

    void aim_at(NodeIndex to) override {
        to_ = network_.routers_[to];
        to_group_ = network_.group_of(to_);
        cable_ = to % network_.global_cables_; // as by the destination, so that all nodes of a group together use all cables
    }

    uint32_t hops_from(NodeIndex from) const override {
        const uint32_t router = network_.routers_[from], group = network_.group_of(router), size = network_.in_group();
        if (group == to_group_)
            return network_.local_hops(router % size, to_ % size);
        return network_.local_hops(router % size, network_.gate(group, to_group_, cable_)) + 1 +
               network_.local_hops(network_.gate(to_group_, group, cable_), to_ % size);
    }

    void append_links_from(NodeIndex from, std::vector<LinkIndex>& links) const override {
        const uint32_t router = network_.routers_[from], group = network_.group_of(router), size = network_.in_group();
        if (group == to_group_) {
            append_local(group, router % size, to_ % size, links);
            return;
        }
        append_local(group, router % size, network_.gate(group, to_group_, cable_), links);
        links.push_back(network_.global_link(group, to_group_, cable_));
        append_local(to_group_, network_.gate(to_group_, group, cable_), to_ % size, links);
    }

  private:
    void append_local(uint32_t group, uint32_t from, uint32_t to, std::vector<LinkIndex>& links) const {
        const uint32_t columns = network_.columns_, turn = from / columns * columns + to % columns;
        if (turn != from)
            links.push_back(network_.local_link(group, from, turn));
        if (turn != to)
            links.push_back(network_.local_link(group, turn, to));
    }

    const Dragonfly& network_;
    uint32_t to_ = 0, to_group_ = 0, cable_ = 0;
};

Dragonfly::Dragonfly(DragonflyPlan plan)
    : Network(std::move(plan.nodes)), groups_(plan.groups), rows_(plan.rows), columns_(plan.columns), global_cables_(plan.global_cables),
      routers_(std::move(plan.routers)) {
    if (groups_ == 0 || rows_ == 0 || columns_ == 0 || global_cables_ == 0)
        throw Error("a dragonfly needs at least one group, one router in it, and one cable between each two groups");
    const double in_group = static_cast<double>(rows_) * columns_, groups = groups_; // doubles: the product may leave 64 bits
    if (groups * in_group * in_group + groups * groups * global_cables_ > static_cast<double>(kMostLinks))
        throw Error(fmt::format("the groups come to more than {} links", kMostLinks));
    if (routers_.size() != node_count())
        throw Error(fmt::format("{} nodes have names and {} have routers", node_count(), routers_.size()));
    for (NodeIndex node = 0; node < node_count(); ++node)
        if (routers_[node] >= place_count())
            throw Error(fmt::format("node {} lies outside of the groups", node_name(node)));
}

uint32_t Dragonfly::gate(uint32_t group, uint32_t other, uint32_t cable) const {
    const uint32_t number = other < group ? other : other - 1; // of the other groups
    return static_cast<uint32_t>((uint64_t{cable} * (groups_ - 1) + number) % in_group());
}

uint32_t Dragonfly::local_hops(uint32_t router, uint32_t other) const {
    return (router / columns_ != other / columns_) + (router % columns_ != other % columns_);
}

LinkIndex Dragonfly::global_link(uint32_t from, uint32_t to, uint32_t cable) const {
    return groups_ * local_links() + (from * groups_ + to) * global_cables_ + cable;
}

std::string Dragonfly::description() const {
    return fmt::format("dragonfly of {} with {} each", counted(groups_, "group", "groups"), counted(in_group(), "router", "routers"));
}

uint32_t Dragonfly::link_count() const { return groups_ * local_links() + groups_ * groups_ * global_cables_; }

std::string Dragonfly::router_name(uint32_t router) const {
    const uint32_t within = router % in_group();
    return rows_ == 1 ? fmt::format("router {} of group {}", within, group_of(router))
                      : fmt::format("router {},{} of group {}", within / columns_, within % columns_, group_of(router));
}

std::pair<uint32_t, uint32_t> Dragonfly::places_of_link(LinkIndex link) const {
    const uint32_t local = groups_ * local_links(), size = in_group();
    if (link < local) {
        const uint32_t group = link / local_links(), ends = link % local_links();
        return {group * size + ends / size, group * size + ends % size};
    }
    const uint32_t cable = (link - local) % global_cables_, from = (link - local) / global_cables_ / groups_,
                   to = (link - local) / global_cables_ % groups_;
    return {from * size + gate(from, to, cable), to * size + gate(to, from, cable)};
}

Link Dragonfly::link(LinkIndex link) const {
    const auto [from, to] = places_of_link(link);
    return {router_name(from), router_name(to), 1};
}

std::unique_ptr<RoutesTo> Dragonfly::routes() const { return std::make_unique<DragonflyRoutes>(*this); }

void Dragonfly::append_neighbours(uint32_t place, std::vector<uint32_t>& places) const {
    const uint32_t group = group_of(place), own = place % in_group();
    for (uint32_t other = 0; other < in_group(); ++other)
        if (local_hops(own, other) == 1)
            places.push_back(group * in_group() + other);
    for (uint32_t other = 0; other < groups_; ++other)
        for (uint32_t cable = 0; other != group && cable < global_cables_; ++cable)
            if (gate(group, other, cable) == own)
                if (const uint32_t beyond = other * in_group() + gate(other, group, cable); std::ranges::find(places, beyond) == places.end())
                    places.push_back(beyond);
}

std::vector<std::vector<uint32_t>> Dragonfly::levels() const {
    std::vector<uint32_t> groups;
    for (const uint32_t router : routers_)
        groups.push_back(group_of(router));
    return {groups, routers_};
}

} // namespace plumb::network
