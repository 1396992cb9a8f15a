#include "noise/node_pattern.h"

#include <catch2/catch.hpp>
#include <random>

using namespace plumb;

namespace {

std::vector<bool> nodes_with(uint32_t nodes, uint32_t every, const std::vector<uint32_t>& offsets) {
    std::vector<bool> result(nodes);
    for (uint32_t node = 0; node < nodes; ++node)
        result[node] = std::ranges::find(offsets, node % every) != offsets.end();
    return result;
}

} // namespace

TEST_CASE("a structure that repeats over nodes is found with its period and offsets") {
    for (const auto& [every, offsets] : std::vector<std::pair<uint32_t, std::vector<uint32_t>>>{
             {32, {0}}, {32, {31}}, {16, {3, 4}}, {24, {1, 11, 20}}, {2, {1}}}) {
        const auto pattern = noise::node_pattern(nodes_with(1024, every, offsets));
        CHECK(pattern.every == every);
        CHECK(pattern.offsets == offsets);
    }
}

TEST_CASE("a few exceptions leave a structure of nodes what it is") {
    auto nodes = nodes_with(1024, 32, {5});
    nodes[5] = false;
    nodes[700] = true;
    const auto pattern = noise::node_pattern(nodes);
    CHECK(pattern.every == 32);
    CHECK(pattern.offsets == std::vector<uint32_t>{5});
}

TEST_CASE("nodes without a structure are all of them, or a list") {
    CHECK(noise::node_pattern(std::vector<bool>(100, true)).offsets.empty());
    CHECK(noise::node_pattern(std::vector<bool>(1, true)).offsets.empty());
    auto two = std::vector<bool>(64);
    two[3] = two[35] = true; // once a period of 32 is chance
    CHECK(noise::node_pattern(two).every == 0);
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<bool> nodes(256);
        for (size_t members = 2 + random() % 40; members > 0; --members)
            nodes[random() % nodes.size()] = true;
        CHECK(noise::node_pattern(nodes).every == 0);
    }
}
