// Jobs with a known pattern of messages, and networks for them.
#pragma once

#include "network/job/traffic.h"
#include "network/machine/network.h"

#include <memory>
#include <vector>

namespace plumb::network::planted {

struct Planted {
    Traffic traffic;
    std::vector<uint32_t> cell_of; // of each rank
};

// `seed` 0: ranks are numbered along the grid, x fastest; else they are shuffled.
Planted halo(const std::vector<uint32_t>& sizes, bool wraps, uint64_t seed, uint64_t bytes = 1000);
Planted with_corners(const std::vector<uint32_t>& sizes, uint64_t bytes, uint64_t corner_bytes); // two dimensions
Traffic all_to_all(uint32_t ranks);
Traffic rows_and_columns(uint32_t rows, uint32_t columns);
Traffic master_and_workers(uint32_t ranks, uint32_t master);
Traffic random_traffic(uint32_t ranks, size_t pairs, uint64_t seed);

std::vector<uint32_t> shuffled(uint32_t count, uint64_t seed);

std::shared_ptr<const Network> ring_of(uint32_t nodes);
std::shared_ptr<const Network> torus_of(const std::vector<uint32_t>& sizes);
std::shared_ptr<const Network> fat_tree_of(uint32_t leaves, uint32_t spines, uint32_t nodes_each);
std::vector<std::shared_ptr<const Network>> some_networks(uint32_t nodes); // of at least so many

} // namespace plumb::network::planted
