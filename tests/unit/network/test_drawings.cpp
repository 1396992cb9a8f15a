// Pictures of networks: each place has a point of its own, and each link begins at its place.
#include "network/planted_traffic.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

using namespace plumb::network;

namespace {

double distance(const Point& from, const Point& to) { return std::hypot(from.x - to.x, from.y - to.y); }

void check(const Network& network) {
    const Drawing drawing = network.drawing();
    std::set<std::pair<long, long>> points;
    std::set<uint32_t> nodes;
    for (const DrawnPlace& place : drawing.places) {
        REQUIRE(std::isfinite(place.at.x));
        REQUIRE(std::isfinite(place.at.y));
        CHECK(points.insert({std::lround(place.at.x * 100), std::lround(place.at.y * 100)}).second);
        CHECK_FALSE(place.name.empty());
        for (const uint32_t node : place.nodes)
            CHECK(nodes.insert(node).second);
    }
    CHECK(nodes.size() == network.node_count());
    std::map<std::string, Point> at;
    for (const DrawnPlace& place : drawing.places)
        at[place.name] = place.at;
    std::set<uint32_t> links;
    for (const DrawnLink& each : drawing.links) {
        CHECK(links.insert(each.link).second);
        const Link link = network.link(each.link);
        REQUIRE(at.contains(link.from));
        CHECK(distance(each.from, at[link.from]) < 1e-9);
        CHECK(distance(each.from, each.to) > 0.1);
    }
    // Whatever a message passes is drawn, but the links of nodes.
    const auto routes = network.routes();
    std::vector<LinkIndex> passed;
    for (NodeIndex to = 0; to < network.node_count(); ++to) {
        routes->aim_at(to);
        for (NodeIndex from = 0; from < network.node_count(); ++from)
            routes->append_links_from(from, passed);
    }
    for (const LinkIndex link : passed)
        CHECK((links.contains(link) || !at.contains(network.link(link).from) || !at.contains(network.link(link).to)));
}

} // namespace

TEST_CASE("networks are drawn with each place and each link that messages pass", "[network]") {
    for (const auto& network : planted::some_networks(64)) {
        INFO(network->description());
        check(*network);
    }
    check(*planted::torus_of({3, 4, 5, 2}));
    check(*planted::ring_of(5));
}

TEST_CASE("the two halves of a link meet, and those around a ring do not", "[network]") {
    const auto ring = planted::ring_of(6);
    std::map<std::pair<std::string, std::string>, DrawnLink> drawn;
    for (const DrawnLink& each : ring->drawing().links) {
        const Link link = ring->link(each.link);
        drawn[{link.from, link.to}] = each;
    }
    CHECK(distance(drawn.at({"(2)", "(3)"}).to, drawn.at({"(3)", "(2)"}).to) < 1e-9);
    CHECK(distance(drawn.at({"(5)", "(0)"}).to, drawn.at({"(0)", "(5)"}).to) > 5);
}
