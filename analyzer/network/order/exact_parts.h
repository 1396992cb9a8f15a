// Parts of a graph as large as they must be.
#pragma once

#include "network/job/traffic.h"

namespace plumb::network {

// Moves ranks out of parts that have more than their size into those that have fewer: of each part those that have least to do with
// it, each to where it has most to do. The sizes add up to the number of ranks. `part`: of each rank.
void make_exact(const Partners& partners, const std::vector<uint32_t>& sizes, std::vector<uint32_t>& part);

// What the ranks of groups exchange with those of others, group by group.
Partners together(const Partners& partners, const std::vector<uint32_t>& group_of, uint32_t groups);

} // namespace plumb::network
