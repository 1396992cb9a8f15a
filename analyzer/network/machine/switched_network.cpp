#include "network/machine/switched_network.h"

#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace plumb::network {

namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr uint16_t kNotReached = std::numeric_limits<uint16_t>::max();
constexpr size_t kMostNamed = 4;

std::string named(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
        text += (i ? ", " : "") + names[i];
    return names.size() > kMostNamed ? fmt::format("{} and {} more", text, names.size() - kMostNamed) : text;
}

} // namespace

class SwitchedRoutes : public RoutesTo {
  public:
    explicit SwitchedRoutes(const SwitchedNetwork& network) : network_(network) {}

    void aim_at(NodeIndex to) override { to_ = to; }

    uint32_t hops_from(NodeIndex from) const override {
        return from == to_ ? 0 : 2u + network_.hops_between(network_.switch_of_[from], network_.switch_of_[to_]);
    }

    void append_links_from(NodeIndex from, std::vector<LinkIndex>& links) const override {
        if (from == to_)
            return;
        links.push_back(2 * from);
        const size_t row = size_t{to_} * network_.switches_.size();
        for (uint32_t at = network_.switch_of_[from]; at != network_.switch_of_[to_];) {
            const SwitchedNetwork::Port& port = network_.ports(at)[network_.port_to_[row + at]];
            links.push_back(port.link);
            at = port.to;
        }
        links.push_back(2 * to_ + 1);
    }

  private:
    const SwitchedNetwork& network_;
    NodeIndex to_ = 0;
};

SwitchedNetwork::SwitchedNetwork(SwitchedPlan plan)
    : Network(std::move(plan.nodes)), kind_(std::move(plan.kind)), switches_(std::move(plan.switches)) {
    if (node_count() == 0 || switches_.empty())
        throw Error(fmt::format("this {} has no {}", kind_, switches_.empty() ? "switches" : "nodes"));
    hang_nodes(plan);
    join_switches(plan);
    count_hops();
    choose_ports();
}

void SwitchedNetwork::hang_nodes(const SwitchedPlan& plan) {
    switch_of_.assign(node_count(), kNone);
    links_.resize(size_t{2} * node_count());
    for (const Cable& cable : plan.at) {
        if (switch_of_[cable.from] != kNone)
            throw Error(fmt::format("node {} is at two switches, {} and {}: plumb follows one network, whose nodes have one each",
                                    node_name(cable.from), switches_[switch_of_[cable.from]], switches_[cable.to]));
        switch_of_[cable.from] = cable.to;
        links_[2 * cable.from] = {cable.from, node_count() + cable.to, cable.cables};
        links_[2 * cable.from + 1] = {node_count() + cable.to, cable.from, cable.cables};
    }
    std::vector<std::string> loose;
    for (NodeIndex node = 0; node < node_count(); ++node)
        if (switch_of_[node] == kNone)
            loose.push_back(node_name(node));
    if (!loose.empty())
        throw Error(fmt::format("{} without a switch: {}", counted(loose.size(), "node is", "nodes are"), named(loose)));
}

void SwitchedNetwork::join_switches(const SwitchedPlan& plan) {
    const auto count = static_cast<uint32_t>(switches_.size());
    first_port_.assign(count + 1, 0);
    for (const Cable& cable : plan.between) {
        if (cable.from == cable.to)
            throw Error(fmt::format("switch {} is joined to itself", switches_[cable.from]));
        ++first_port_[cable.from + 1];
        ++first_port_[cable.to + 1];
    }
    for (uint32_t i = 0; i < count; ++i)
        first_port_[i + 1] += first_port_[i];
    ports_.resize(first_port_.back());
    std::vector<uint32_t> next(first_port_.begin(), first_port_.end() - 1);
    for (const Cable& cable : plan.between)
        for (const auto& [from, to] : {std::pair{cable.from, cable.to}, std::pair{cable.to, cable.from}}) {
            ports_[next[from]++] = {to, static_cast<LinkIndex>(links_.size())};
            links_.push_back({node_count() + from, node_count() + to, cable.cables});
        }
}

void SwitchedNetwork::count_hops() {
    const auto count = static_cast<uint32_t>(switches_.size());
    row_of_.assign(count, kNone);
    std::vector<uint32_t> reached;
    for (const uint32_t to : switch_of_) {
        if (row_of_[to] != kNone)
            continue;
        const size_t row = hops_.size();
        row_of_[to] = static_cast<uint32_t>(row / count);
        hops_.resize(row + count, kNotReached);
        hops_[row + to] = 0;
        reached.assign(1, to);
        for (size_t i = 0; i < reached.size(); ++i)
            for (const Port& port : ports(reached[i]))
                if (hops_[row + port.to] == kNotReached) {
                    hops_[row + port.to] = static_cast<uint16_t>(hops_[row + reached[i]] + 1);
                    reached.push_back(port.to);
                }
        if (row > 0)
            continue; // from one switch all others are reached, or from none
        std::vector<std::string> beyond;
        for (uint32_t at = 0; at < count; ++at)
            if (hops_[at] == kNotReached)
                beyond.push_back(switches_[at]);
        if (!beyond.empty())
            throw Error(fmt::format("nothing joins {} to {}: {} cannot be reached", named(beyond), switches_[to],
                                    counted(beyond.size(), "switch", "switches")));
    }
}

void SwitchedNetwork::choose_ports() {
    const auto count = static_cast<uint32_t>(switches_.size());
    std::vector<uint32_t> given(ports_.size(), 0); // nodes, by port
    port_to_.assign(size_t{node_count()} * count, 0);
    for (NodeIndex to = 0; to < node_count(); ++to)
        for (uint32_t at = 0; at < count; ++at) {
            const uint32_t own = switch_of_[to];
            if (at == own)
                continue;
            const uint16_t hops = hops_between(at, own);
            uint32_t chosen = kNone;
            for (uint32_t port = first_port_[at]; port < first_port_[at + 1]; ++port)
                if (hops_between(ports_[port].to, own) < hops && (chosen == kNone || given[port] < given[chosen]))
                    chosen = port;
            ++given[chosen];
            port_to_[size_t{to} * count + at] = static_cast<uint16_t>(chosen - first_port_[at]);
        }
}

std::string SwitchedNetwork::description() const {
    return fmt::format("{} of {} and {}", kind_, counted(node_count(), "node", "nodes"), counted(switches_.size(), "switch", "switches"));
}

std::string SwitchedNetwork::name_of(uint32_t end) const {
    return end < node_count() ? node_name(end) : switches_[end - node_count()];
}

Link SwitchedNetwork::link(LinkIndex link) const {
    const Ends& ends = links_[link];
    return {name_of(ends.from), name_of(ends.to), ends.cables};
}

std::pair<uint32_t, uint32_t> SwitchedNetwork::places_of_link(LinkIndex link) const {
    const auto place = [&](uint32_t end) {
        const uint32_t at = end < node_count() ? switch_of_[end] : end - node_count();
        return row_of_[at] == kNone ? kShared : at;
    };
    return {place(links_[link].from), place(links_[link].to)};
}

std::unique_ptr<RoutesTo> SwitchedNetwork::routes() const { return std::make_unique<SwitchedRoutes>(*this); }

void SwitchedNetwork::append_neighbours(uint32_t place, std::vector<uint32_t>& places) const {
    const auto append = [&](uint32_t other) {
        if (other != place && row_of_[other] != kNone && std::ranges::find(places, other) == places.end())
            places.push_back(other);
    };
    for (const Port& port : ports(place)) {
        append(port.to);
        if (row_of_[port.to] == kNone) // it has no nodes of its own: whatever hangs at it
            for (const Port& further : ports(port.to))
                append(further.to);
    }
}

// Of each switch: how many cables away the nearest switch with nodes is.
std::vector<uint32_t> SwitchedNetwork::ranks() const {
    std::vector<uint32_t> ranks(switches_.size(), kNone), reached;
    for (uint32_t at = 0; at < ranks.size(); ++at)
        if (row_of_[at] != kNone) {
            ranks[at] = 0;
            reached.push_back(at);
        }
    for (size_t i = 0; i < reached.size(); ++i)
        for (const Port& port : ports(reached[i]))
            if (ranks[port.to] == kNone) {
                ranks[port.to] = ranks[reached[i]] + 1;
                reached.push_back(port.to);
            }
    return ranks;
}

// Of each node the part that it is in where only switches below `rank` are left.
std::vector<uint32_t> SwitchedNetwork::parts_below(uint32_t rank, const std::vector<uint32_t>& ranks) const {
    std::vector<uint32_t> part(switches_.size(), kNone), reached;
    uint32_t parts = 0;
    for (uint32_t first = 0; first < part.size(); ++first) {
        if (ranks[first] >= rank || part[first] != kNone)
            continue;
        part[first] = parts;
        reached.assign(1, first);
        for (size_t i = 0; i < reached.size(); ++i)
            for (const Port& port : ports(reached[i]))
                if (ranks[port.to] < rank && part[port.to] == kNone) {
                    part[port.to] = parts;
                    reached.push_back(port.to);
                }
        ++parts;
    }
    std::vector<uint32_t> of_node;
    for (const uint32_t at : switch_of_)
        of_node.push_back(part[at]);
    return of_node;
}

// What hangs together without the uppermost switches, without the two uppermost ranks of them, and so on.
std::vector<std::vector<uint32_t>> SwitchedNetwork::levels() const {
    std::vector<std::vector<uint32_t>> levels;
    const std::vector<uint32_t> ranks = this->ranks();
    for (uint32_t rank = std::ranges::max(ranks); rank > 1; --rank)
        levels.push_back(parts_below(rank, ranks));
    levels.push_back(switch_of_);
    return levels;
}

} // namespace plumb::network
