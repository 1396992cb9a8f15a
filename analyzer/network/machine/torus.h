// Tori and meshes of any number of dimensions. Messages go along one dimension after the other, the shorter way round, as the routers
// of the Cray XT and XE and of Blue Gene do by default.
#pragma once

#include "network/machine/network.h"

namespace plumb::network {

struct Dimension {
    std::string name;  // "x"
    uint32_t size = 1; // routers
    bool wraps = true; // a ring; otherwise a line
    // Numbers of the routers as the cable passes them, where that is not 0, 1, 2 ...: 0 2 4 6 8 10 9 7 5 3 1.
    std::vector<uint32_t> wiring;
};

class Torus : public Network {
  public:
    // `routers`: of each node; a router's number is (z * size of y + y) * size of x + x. Throws Error where a wiring is no
    // permutation, and where sizes are 0 or come to more than 2^26 routers.
    Torus(std::vector<Dimension> dimensions, std::vector<std::string> node_names, std::vector<uint32_t> routers);

    const std::vector<Dimension>& dimensions() const { return dimensions_; }
    uint32_t router_count() const { return router_count_; }
    uint32_t router_of(NodeIndex node) const { return routers_[node]; }
    uint32_t coordinate(uint32_t router, size_t dimension) const; // a number, not the place on the cable

    // Place on the cable of a coordinate, and how many links lie between two such places.
    uint32_t place_on_cable(size_t dimension, uint32_t coordinate) const { return places_[dimension][coordinate]; }
    uint32_t distance_on_cable(size_t dimension, uint32_t place, uint32_t other) const;
    // The router at this place on the cable of `dimension` that passes `router`.
    uint32_t router_at(uint32_t router, size_t dimension, uint32_t place) const;

    std::string description() const override;
    uint32_t link_count() const override;
    Link link(LinkIndex link) const override;
    std::pair<uint32_t, uint32_t> places_of_link(LinkIndex link) const override;
    std::unique_ptr<RoutesTo> routes() const override;
    uint32_t place_of(NodeIndex node) const override { return routers_[node]; }
    uint32_t place_count() const override { return router_count_; }
    void append_neighbours(uint32_t place, std::vector<uint32_t>& places) const override;
    Drawing drawing() const override;

  private:
    std::string router_name(uint32_t router) const;
    // The router one step further along the cable (or back); nothing at the end of a line.
    std::optional<uint32_t> next_router(uint32_t router, size_t dimension, bool back) const;

    std::vector<Dimension> dimensions_;
    std::vector<uint32_t> routers_;
    std::vector<uint32_t> strides_;                // by dimension: distance of the numbers of two neighbours
    std::vector<std::vector<uint32_t>> places_;    // by dimension and coordinate
    std::vector<std::vector<uint32_t>> numbers_;   // by dimension and place: the coordinate there
    uint32_t router_count_ = 1;
};

} // namespace plumb::network
