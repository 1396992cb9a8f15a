// Allocations that a node had no room for: they were wanted there and went elsewhere, while its memory was full of cached
// file pages. The kernel keeps the cache rather than the locality.
#pragma once

#include "model/run.h"

#include <cstdint>
#include <vector>

namespace plumb {

struct NodeSpill {
    int node = 0;
    uint64_t spilled_bytes = 0; // wanted here, got elsewhere, while the run was recorded; by whomever
    uint64_t wanted_bytes = 0;  // those and what was wanted and found here
    uint64_t total_bytes = 0;
    uint64_t file_bytes = 0;    // the most that was cached at one moment
    uint64_t free_bytes = 0;    // the least that was free

    bool is_much() const; // a good part of what was wanted here went elsewhere, for whatever reason
};

// All nodes of `host` whose memory was recorded; empty where there is only one.
std::vector<NodeSpill> node_spills(const model::Host& host);

// Nodes of `host` from which a good part of the allocations spilled because of the page cache.
std::vector<NodeSpill> spills_of(const model::Host& host);

} // namespace plumb
