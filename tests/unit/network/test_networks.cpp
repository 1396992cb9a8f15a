#include "network/machine/dragonfly.h"
#include "network/machine/host_inside.h"
#include "network/machine/switched_network.h"
#include "network/machine/torus.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>
#include <queue>
#include <set>

using namespace plumb;
using namespace plumb::network;
using Catch::Contains;

namespace {

std::vector<std::string> numbered(size_t count) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i)
        names.push_back(fmt::format("n{:04}", i));
    return names;
}

std::unique_ptr<Torus> torus(std::vector<Dimension> dimensions) {
    uint32_t count = 1;
    for (const Dimension& each : dimensions)
        count *= each.size;
    std::vector<uint32_t> routers;
    for (uint32_t i = 0; i < count; ++i)
        routers.push_back(i);
    return std::make_unique<Torus>(std::move(dimensions), numbered(count), std::move(routers));
}

// The truth: a plain search over named ends.
class Graph {
  public:
    void join(const std::string& one, const std::string& other) {
        next_[one].insert(other);
        next_[other].insert(one);
    }
    std::map<std::string, uint32_t> distances(const std::string& from) const {
        std::map<std::string, uint32_t> found{{from, 0}};
        std::queue<std::string> left;
        left.push(from);
        while (!left.empty()) {
            const std::string at = left.front();
            left.pop();
            for (const std::string& next : next_.at(at))
                if (found.emplace(next, found[at] + 1).second)
                    left.push(next);
        }
        return found;
    }

  private:
    std::map<std::string, std::set<std::string>> next_;
};

// What must hold of any network: ways are connected, as long as it says, and lead where they should.
void check_routes(const Network& network, const std::function<std::string(NodeIndex)>& end_of) {
    const auto routes = network.routes();
    std::vector<LinkIndex> links;
    for (NodeIndex to = 0; to < network.node_count(); ++to) {
        routes->aim_at(to);
        for (NodeIndex from = 0; from < network.node_count(); ++from) {
            links.clear();
            routes->append_links_from(from, links);
            REQUIRE(links.size() == routes->hops_from(from));
            std::string at = end_of(from);
            for (const LinkIndex link : links) {
                REQUIRE(link < network.link_count());
                REQUIRE(network.link(link).from == at);
                at = network.link(link).to;
            }
            REQUIRE(at == end_of(to));
        }
    }
}

// Links of the network as a graph, and all distances compared with a search over it.
void check_distances(const Network& network, const std::function<std::string(NodeIndex)>& end_of) {
    Graph graph;
    for (LinkIndex link = 0; link < network.link_count(); ++link)
        graph.join(network.link(link).from, network.link(link).to);
    const auto routes = network.routes();
    for (NodeIndex to = 0; to < network.node_count(); ++to) {
        const auto truth = graph.distances(end_of(to));
        routes->aim_at(to);
        for (NodeIndex from = 0; from < network.node_count(); ++from)
            REQUIRE(routes->hops_from(from) == truth.at(end_of(from)));
    }
}

std::string router_at(const Torus& torus, NodeIndex node) { // as links name it
    std::string name = "(";
    for (size_t i = 0; i < torus.dimensions().size(); ++i)
        name += fmt::format("{}{}", i ? "," : "", torus.coordinate(torus.router_of(node), i));
    return name + ")";
}

SwitchedPlan fat_tree(uint32_t leaves, uint32_t spines, uint32_t nodes_each) {
    SwitchedPlan plan;
    plan.kind = "fat tree";
    plan.nodes = numbered(size_t{leaves} * nodes_each);
    for (uint32_t i = 0; i < leaves; ++i)
        plan.switches.push_back(fmt::format("leaf{}", i));
    for (uint32_t i = 0; i < spines; ++i)
        plan.switches.push_back(fmt::format("spine{}", i));
    for (uint32_t i = 0; i < plan.nodes.size(); ++i)
        plan.at.push_back({i, i / nodes_each, 1});
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
        for (uint32_t spine = 0; spine < spines; ++spine)
            plan.between.push_back({leaf, leaves + spine, 1});
    return plan;
}

} // namespace

TEST_CASE("a ring of cabinets whose numbers do not follow the cable: all 55 distances") {
    const std::vector<uint32_t> wiring{0, 2, 4, 6, 8, 10, 9, 7, 5, 3, 1};
    const auto ring = torus({{"x", 11, true, wiring}});
    Graph cable;
    for (size_t i = 0; i < wiring.size(); ++i)
        cable.join(std::to_string(wiring[i]), std::to_string(wiring[(i + 1) % wiring.size()]));
    const auto routes = ring->routes();
    size_t compared = 0;
    for (uint32_t to = 0; to < 11; ++to) {
        routes->aim_at(to);
        for (uint32_t from = 0; from < to; ++from, ++compared)
            CHECK(routes->hops_from(from) == cable.distances(std::to_string(from)).at(std::to_string(to)));
    }
    CHECK(compared == 55);
    std::set<uint32_t> of_neighbours;
    for (uint32_t cabinet = 1; cabinet < 11; ++cabinet) {
        routes->aim_at(cabinet);
        of_neighbours.insert(routes->hops_from(cabinet - 1));
    }
    CHECK(of_neighbours == std::set<uint32_t>{1, 2, 3, 4, 5});
}

TEST_CASE("tori and meshes: ways are shortest, and follow the cables") {
    const auto dimensions = GENERATE(std::vector<Dimension>{{"x", 5, true, {0, 2, 4, 3, 1}}, {"y", 4, true, {}}, {"z", 3, false, {}}},
                                     std::vector<Dimension>{{"x", 7, false, {}}}, std::vector<Dimension>{{"x", 2, true, {}}, {"y", 1, true, {}}, {"z", 6, true, {}}},
                                     std::vector<Dimension>{{"a", 3, true, {}}, {"b", 2, false, {}}, {"c", 2, true, {}}, {"d", 3, true, {}}});
    const auto made = torus(dimensions);
    const auto end_of = [&](NodeIndex node) { return router_at(*made, node); };
    check_routes(*made, end_of);
    // Ends of lines have links that lead nowhere: their other end is the router itself, which changes no distance.
    check_distances(*made, end_of);
}

TEST_CASE("nodes of one router are no link apart") {
    const Torus shared({{"x", 4, true, {}}}, numbered(8), {0, 0, 1, 1, 2, 2, 3, 3});
    const auto routes = shared.routes();
    routes->aim_at(1);
    CHECK(routes->hops_from(0) == 0);
    CHECK(routes->hops_from(7) == 1);
    CHECK(shared.node_named("n0003.example.org") == NodeIndex{3});
    CHECK(!shared.node_named("n0009"));
}

TEST_CASE("tori that cannot be") {
    CHECK_THROWS_WITH(torus({{"x", 3, true, {0, 1, 1}}}), Contains("the wiring of dimension x must name each of the numbers 0 to 2 once"));
    CHECK_THROWS_WITH(torus({{"x", 3, true, {0, 1}}}), Contains("0 to 2"));
    CHECK_THROWS_WITH(Torus({{"x", 2, true, {}}}, numbered(3), {0, 1, 2}), Contains("n0002 lies outside"));
    CHECK_THROWS_WITH(Torus({{"x", 2, true, {}}}, {"a", "a"}, {0, 1}), Contains("two nodes are called a"));
    CHECK_THROWS_WITH(Torus({{"x", 0, true, {}}}, {}, {}), Contains("no routers"));
}

TEST_CASE("fat trees: ways are shortest, and spread evenly over the spines") {
    const SwitchedNetwork tree(fat_tree(4, 3, 6));
    check_routes(tree, [&](NodeIndex node) { return tree.node_name(node); });
    check_distances(tree, [&](NodeIndex node) { return tree.node_name(node); });
    std::map<LinkIndex, int> ways;
    const auto routes = tree.routes();
    std::vector<LinkIndex> links;
    for (NodeIndex to = 0; to < tree.node_count(); ++to)
        for (NodeIndex from = 0; from < tree.node_count(); ++from) {
            routes->aim_at(to);
            links.clear();
            routes->append_links_from(from, links);
            for (const LinkIndex link : links)
                ++ways[link];
        }
    std::set<int> between_switches;
    for (const auto& [link, count] : ways)
        if (tree.link(link).from.starts_with("leaf") && tree.link(link).to.starts_with("spine"))
            between_switches.insert(count);
    CHECK(between_switches == std::set<int>{6 * 18 / 3}); // of each leaf's 6 nodes to the 18 others, by 3 spines
    CHECK(tree.levels() == std::vector<std::vector<uint32_t>>{[] {
              std::vector<uint32_t> leaves;
              for (uint32_t i = 0; i < 24; ++i)
                  leaves.push_back(i / 6);
              return leaves;
          }()});
}

TEST_CASE("a tree of three levels knows what hangs together") {
    SwitchedPlan plan;
    plan.kind = "tree";
    plan.nodes = numbered(8);
    plan.switches = {"root", "pod0", "pod1", "leaf0", "leaf1", "leaf2", "leaf3"};
    plan.between = {{1, 0, 1}, {2, 0, 1}, {3, 1, 1}, {4, 1, 1}, {5, 2, 1}, {6, 2, 1}};
    for (uint32_t i = 0; i < 8; ++i)
        plan.at.push_back({i, 3 + i / 2, 1});
    const SwitchedNetwork tree(std::move(plan));
    check_distances(tree, [&](NodeIndex node) { return tree.node_name(node); });
    REQUIRE(tree.levels().size() == 2);
    CHECK(tree.levels()[0] == std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 1, 1});
    std::vector<uint32_t> beside;
    tree.append_neighbours(3, beside);
    CHECK(beside == std::vector<uint32_t>{4});
}

TEST_CASE("the inside of hosts: caches, NUMA nodes, packages, hosts, outwards") {
    std::vector<CacheGroup> groups;
    for (const char* host : {"a.example.org", "b.example.org"})
        for (int cache = 0; cache < 8; ++cache)
            groups.push_back({host, cache / 4, cache / 2, cache});
    groups.push_back(groups.front()); // said twice
    const auto inside = inside_of_hosts(groups);
    REQUIRE(inside->node_count() == 16);
    const auto hops = [&](size_t from, size_t to) {
        const auto routes = inside->routes();
        routes->aim_at(inside->node_named(name_of(groups[to])).value());
        return routes->hops_from(inside->node_named(name_of(groups[from])).value());
    };
    CHECK(hops(0, 0) == 0);
    CHECK(hops(0, 1) == 2);  // the same NUMA node
    CHECK(hops(0, 2) == 4);  // the same package
    CHECK(hops(0, 4) == 6);  // the same host
    CHECK(hops(0, 8) == 8);  // the other one
    CHECK(inside->levels().size() == 3); // hosts, packages, NUMA nodes
    CHECK(inside->description() == "inside of 2 hosts: 4 packages, 8 NUMA nodes, 16 last-level caches");
    check_distances(*inside, [&](NodeIndex node) { return inside->node_name(node); });
}

TEST_CASE("levels that divide nothing are left out") {
    const auto inside = inside_of_hosts({{"a", 0, 0, 0}, {"a", 0, 0, 1}});
    const auto routes = inside->routes();
    routes->aim_at(0);
    CHECK(routes->hops_from(1) == 2);
    CHECK(inside->levels().size() == 1);
    CHECK(inside_of_hosts({{"a", -1, -1, -1}})->node_count() == 1);
}

TEST_CASE("switched networks that cannot be name what is wrong") {
    SwitchedPlan plan = fat_tree(2, 1, 2);
    SECTION("a hole in the wiring") {
        plan.between.pop_back();
        CHECK_THROWS_WITH(SwitchedNetwork(std::move(plan)), Contains("nothing joins leaf1 to leaf0"));
    }
    SECTION("a switch joined to itself") {
        plan.between.push_back({0, 0, 1});
        CHECK_THROWS_WITH(SwitchedNetwork(std::move(plan)), Contains("leaf0 is joined to itself"));
    }
    SECTION("a node at two switches") {
        plan.at.push_back({0, 1, 1});
        CHECK_THROWS_WITH(SwitchedNetwork(std::move(plan)), Contains("node n0000 is at two switches, leaf0 and leaf1"));
    }
    SECTION("a node at none") {
        plan.at.pop_back();
        CHECK_THROWS_WITH(SwitchedNetwork(std::move(plan)), Contains("1 node is without a switch: n0003"));
    }
    SECTION("no nodes") {
        plan.nodes.clear();
        plan.at.clear();
        CHECK_THROWS_WITH(SwitchedNetwork(std::move(plan)), Contains("has no nodes"));
    }
}

TEST_CASE("dragonflies: ways are connected; of one cable between groups, shortest") {
    const auto [groups, rows, columns, cables] = GENERATE(std::tuple{9u, 1u, 4u, 1u}, std::tuple{5u, 2u, 3u, 1u}, std::tuple{3u, 2u, 4u, 4u});
    DragonflyPlan plan{groups, rows, columns, cables, numbered(size_t{groups} * rows * columns * 2), {}};
    for (uint32_t i = 0; i < plan.nodes.size(); ++i)
        plan.routers.push_back(i / 2);
    const uint32_t routers = rows, row_length = columns;
    const Dragonfly dragonfly(std::move(plan));
    const auto end_of = [&](NodeIndex node) {
        const uint32_t router = node / 2, in_group = routers * row_length, within = router % in_group;
        return routers == 1 ? fmt::format("router {} of group {}", within, router / in_group)
                            : fmt::format("router {},{} of group {}", within / row_length, within % row_length, router / in_group);
    };
    check_routes(dragonfly, end_of);
}
