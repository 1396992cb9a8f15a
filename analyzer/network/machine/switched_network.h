// Nodes at switches that are joined in any way: trees, fat trees, and whatever a subnet manager finds. Of several shortest ways to a
// node each switch takes the one that it has given to the fewest nodes so far, in the order of the nodes: OpenSM's "minhop" and, on a
// fat tree, what any static routing comes to. The network's own tables may differ.
#pragma once

#include "network/machine/network.h"

#include <span>

namespace plumb::network {

struct Cable {
    uint32_t from = 0, to = 0; // switches, or (as `from`) a node
    uint32_t cables = 1;
};

struct SwitchedPlan {
    std::string kind; // "tree", "InfiniBand fabric"
    std::vector<std::string> nodes, switches;
    std::vector<Cable> at;      // one for each node: `from` the node, `to` its switch
    std::vector<Cable> between; // switches, each pair once
};

class SwitchedNetwork : public Network {
  public:
    // Throws Error where a node has no switch or several, a switch is joined to itself, or parts are not connected: it names what.
    explicit SwitchedNetwork(SwitchedPlan plan);

    std::string description() const override;
    uint32_t link_count() const override { return static_cast<uint32_t>(links_.size()); }
    Link link(LinkIndex link) const override;
    uint32_t cables(LinkIndex link) const override { return links_[link].cables; }
    std::pair<uint32_t, uint32_t> places_of_link(LinkIndex link) const override;
    std::unique_ptr<RoutesTo> routes() const override;
    uint32_t place_of(NodeIndex node) const override { return switch_of_[node]; }
    uint32_t place_count() const override { return static_cast<uint32_t>(switches_.size()); }
    void append_neighbours(uint32_t place, std::vector<uint32_t>& places) const override;
    Drawing drawing() const override;
    std::vector<std::vector<uint32_t>> levels() const override;

  private:
    friend class SwitchedRoutes;
    struct Port {
        uint32_t to = 0; // switch
        LinkIndex link = 0;
    };
    struct Ends {
        uint32_t from = 0, to = 0, cables = 1; // below node_count(): a node, else a switch
    };
    std::string name_of(uint32_t end) const;
    std::span<const Port> ports(uint32_t at) const { return {ports_.data() + first_port_[at], first_port_[at + 1] - first_port_[at]}; }
    void hang_nodes(const SwitchedPlan& plan);
    void join_switches(const SwitchedPlan& plan);
    void count_hops();
    void choose_ports();
    std::vector<uint32_t> ranks() const;
    std::vector<uint32_t> parts_below(uint32_t rank, const std::vector<uint32_t>& ranks) const;
    uint16_t hops_between(uint32_t at, uint32_t to) const { return hops_[size_t{row_of_[to]} * switches_.size() + at]; }

    std::string kind_;
    std::vector<std::string> switches_;
    std::vector<uint32_t> switch_of_;  // by node
    std::vector<Ends> links_;          // node i: 2 i to its switch, 2 i + 1 from it
    std::vector<uint32_t> first_port_; // by switch, and one more
    std::vector<Port> ports_;
    std::vector<uint32_t> row_of_;     // by switch: of hops_, where it has nodes
    std::vector<uint16_t> hops_;       // a row for each switch that has nodes: from each switch to it
    std::vector<uint16_t> port_to_;    // a row for each node: of each switch the port to that node, from its first
};

} // namespace plumb::network
