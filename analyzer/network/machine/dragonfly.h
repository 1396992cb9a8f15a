// Dragonflies: groups of routers, all groups joined to one another. Within a group all routers are joined (one row), or those of a row
// and those of a column (Cray Aries: rows of 16 in a chassis, columns through 6 chassis). Messages take a shortest way: at most one
// cable between groups. What adaptive routing sends over other groups is not followed.
#pragma once

#include "network/machine/network.h"

namespace plumb::network {

struct DragonflyPlan {
    uint32_t groups = 1, rows = 1, columns = 1; // routers of a group: rows * columns
    uint32_t global_cables = 1;                 // between each two groups; they are spread evenly over the routers
    std::vector<std::string> nodes;
    std::vector<uint32_t> routers; // of each node: (group * rows + row) * columns + column
};

class Dragonfly : public Network {
  public:
    // Throws Error where a count is 0, or a node lies outside.
    explicit Dragonfly(DragonflyPlan plan);

    std::string description() const override;
    uint32_t link_count() const override;
    Link link(LinkIndex link) const override;
    std::pair<uint32_t, uint32_t> places_of_link(LinkIndex link) const override;
    std::unique_ptr<RoutesTo> routes() const override;
    uint32_t place_of(NodeIndex node) const override { return routers_[node]; }
    uint32_t place_count() const override { return groups_ * in_group(); }
    void append_neighbours(uint32_t place, std::vector<uint32_t>& places) const override;
    Drawing drawing() const override;
    std::vector<std::vector<uint32_t>> levels() const override; // groups, routers

  private:
    friend class DragonflyRoutes;
    uint32_t in_group() const { return rows_ * columns_; }
    uint32_t group_of(uint32_t router) const { return router / in_group(); }
    // Where in `group` the cable of this number to `other` begins: a router within the group.
    uint32_t gate(uint32_t group, uint32_t other, uint32_t cable) const;
    uint32_t local_hops(uint32_t router, uint32_t other) const; // within one group, from 0
    uint32_t local_links() const { return in_group() * in_group(); } // of a group, by both ends; most of a grid's are not there
    LinkIndex local_link(uint32_t group, uint32_t from, uint32_t to) const { return group * local_links() + from * in_group() + to; }
    LinkIndex global_link(uint32_t from, uint32_t to, uint32_t cable) const;
    std::string router_name(uint32_t router) const;

    uint32_t groups_, rows_, columns_, global_cables_;
    std::vector<uint32_t> routers_;
};

} // namespace plumb::network
