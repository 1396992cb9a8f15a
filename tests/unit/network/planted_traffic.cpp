#include "network/planted_traffic.h"

#include "network/machine/dragonfly.h"
#include "network/machine/switched_network.h"
#include "network/machine/torus.h"
#include "support/xorshift.h"

#include <fmt/format.h>
#include <numeric>

namespace plumb::network::planted {

namespace {

std::vector<std::string> names(size_t count) {
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i)
        all.push_back(fmt::format("n{}", i));
    return all;
}

} // namespace

std::vector<uint32_t> shuffled(uint32_t count, uint64_t seed) {
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Xorshift random(seed * 0x9e3779b97f4a7c15u + 1);
    for (uint32_t i = count; seed != 0 && i > 1; --i)
        std::swap(order[i - 1], order[random.next() % i]);
    return order;
}

Planted halo(const std::vector<uint32_t>& sizes, bool wraps, uint64_t seed, uint64_t bytes) {
    uint32_t count = 1;
    for (const uint32_t size : sizes)
        count *= size;
    const std::vector<uint32_t> rank_of = shuffled(count, seed); // by cell
    std::vector<PairTraffic> pairs;
    for (uint32_t cell = 0; cell < count; ++cell) {
        uint32_t stride = 1;
        for (const uint32_t size : sizes) {
            const uint32_t at = cell / stride % size;
            if (at + 1 < size || (wraps && size > 2)) {
                const uint32_t other = at + 1 < size ? cell + stride : cell - at * stride;
                pairs.push_back({rank_of[cell], rank_of[other], 10, bytes});
                pairs.push_back({rank_of[other], rank_of[cell], 10, bytes});
            }
            stride *= size;
        }
    }
    Planted planted{Traffic::of(count, std::move(pairs)), std::vector<uint32_t>(count)};
    for (uint32_t cell = 0; cell < count; ++cell)
        planted.cell_of[rank_of[cell]] = cell;
    return planted;
}

Planted with_corners(const std::vector<uint32_t>& sizes, uint64_t bytes, uint64_t corner_bytes) {
    Planted planted = halo(sizes, true, 0, bytes);
    std::vector<PairTraffic> pairs = planted.traffic.pairs;
    const uint32_t width = sizes[0], height = sizes[1];
    for (uint32_t y = 0; y < height; ++y)
        for (uint32_t x = 0; x < width; ++x)
            for (const uint32_t dx : {1u, width - 1})
                pairs.push_back({y * width + x, (y + 1) % height * width + (x + dx) % width, 10, corner_bytes});
    planted.traffic = Traffic::of(planted.traffic.ranks, std::move(pairs));
    return planted;
}

Traffic all_to_all(uint32_t ranks) {
    std::vector<PairTraffic> pairs;
    for (uint32_t from = 0; from < ranks; ++from)
        for (uint32_t to = 0; to < ranks; ++to)
            pairs.push_back({from, to, 1, 100});
    return Traffic::of(ranks, std::move(pairs));
}

Traffic rows_and_columns(uint32_t rows, uint32_t columns) {
    std::vector<PairTraffic> pairs;
    for (uint32_t from = 0; from < rows * columns; ++from)
        for (uint32_t to = 0; to < rows * columns; ++to)
            if (from / columns == to / columns || from % columns == to % columns)
                pairs.push_back({from, to, 1, 100});
    return Traffic::of(rows * columns, std::move(pairs));
}

Traffic master_and_workers(uint32_t ranks, uint32_t master) {
    std::vector<PairTraffic> pairs;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        pairs.push_back({master, rank, 5, 500});
        pairs.push_back({rank, master, 5, 50});
    }
    return Traffic::of(ranks, std::move(pairs));
}

Traffic random_traffic(uint32_t ranks, size_t count, uint64_t seed) {
    Xorshift random(seed);
    std::vector<PairTraffic> pairs;
    for (size_t i = 0; i < count; ++i)
        pairs.push_back({static_cast<uint32_t>(random.next() % ranks), static_cast<uint32_t>(random.next() % ranks), 1, 1 + random.next() % 10'000});
    return Traffic::of(ranks, std::move(pairs));
}

std::shared_ptr<const Network> ring_of(uint32_t nodes) { return torus_of({nodes}); }

std::shared_ptr<const Network> torus_of(const std::vector<uint32_t>& sizes) {
    std::vector<Dimension> dimensions;
    uint32_t count = 1;
    for (const uint32_t size : sizes) {
        dimensions.push_back({std::string(1, static_cast<char>('x' + static_cast<char>(dimensions.size()))), size, true, {}});
        count *= size;
    }
    std::vector<uint32_t> routers(count);
    std::iota(routers.begin(), routers.end(), 0u);
    return std::make_shared<Torus>(std::move(dimensions), names(count), std::move(routers));
}

std::shared_ptr<const Network> fat_tree_of(uint32_t leaves, uint32_t spines, uint32_t nodes_each) {
    SwitchedPlan plan;
    plan.kind = "fat tree";
    plan.nodes = names(size_t{leaves} * nodes_each);
    for (uint32_t i = 0; i < leaves + spines; ++i)
        plan.switches.push_back(fmt::format("{}{}", i < leaves ? "leaf" : "spine", i < leaves ? i : i - leaves));
    for (uint32_t i = 0; i < plan.nodes.size(); ++i)
        plan.at.push_back({i, i / nodes_each, 1});
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
        for (uint32_t spine = 0; spine < spines; ++spine)
            plan.between.push_back({leaf, leaves + spine, 1 + spine % 2});
    return std::make_shared<SwitchedNetwork>(std::move(plan));
}

std::vector<std::shared_ptr<const Network>> some_networks(uint32_t nodes) {
    const uint32_t groups = 3, columns = 4, in_group = (nodes + groups - 1) / groups, each = (in_group + columns - 1) / columns;
    DragonflyPlan plan{groups, 1, columns, 2, names(size_t{groups} * columns * each), {}};
    for (uint32_t i = 0; i < plan.nodes.size(); ++i)
        plan.routers.push_back(i / each);
    return {ring_of(nodes), torus_of({4, (nodes + 3) / 4}), torus_of({3, 4, (nodes + 11) / 12}), fat_tree_of((nodes + 5) / 6, 3, 6),
            std::make_shared<Dragonfly>(std::move(plan))};
}

} // namespace plumb::network::planted
