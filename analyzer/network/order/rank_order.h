// A better order of a job's ranks on the nodes that it was given.
#pragma once

#include "network/job/hop_bytes.h"
#include "network/job/job_shape.h"

#include <functional>
#include <string>

namespace plumb::network {

struct RankOrder {
    enum class Method { as_it_is, grid, partitioned };
    Method method = Method::as_it_is;
    std::vector<uint32_t> slot_of;  // of each rank: the rank that has its slot now
    std::vector<NodeIndex> node_of; // of each rank
    HopBytes before, after;         // `after` of no link: not asked
    std::string without;            // why no graph was partitioned; empty: it was, or was not needed
};

// Tries orders made for the grid of the job's shape, and one of Scotch, improves each by exchanges for a part of the time, and takes the
// one with the fewest hop-bytes; the order that is there, where none has fewer. `node_of`: of each rank now.
RankOrder better_order(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of, const JobShape& shape,
                       double limit_s);

} // namespace plumb::network
