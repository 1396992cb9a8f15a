// What the pattern of a job's messages looks like: a halo exchange on a grid, a ring, all with all, some with a master. From the
// matrix alone; of a grid also where each rank stands on it, whatever order the ranks have.
#pragma once

#include "network/job/traffic.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::network {

struct Grid {
    std::vector<uint32_t> sizes;   // 1 to 3 dimensions; their product is the number of ranks
    std::vector<uint32_t> cell_of; // of each rank: (z * size of y + y) * size of x + x
    bool by_rank = true;           // cell_of[rank] == rank: the ranks are numbered along the grid

    uint32_t coordinate(uint32_t cell, size_t dimension) const;
};

struct JobShape {
    enum class Kind { silent, other, grid, all_to_all, groups, rows_and_columns, master };
    Kind kind = Kind::other;
    std::optional<Grid> grid;       // of kind grid
    std::vector<uint32_t> sizes;    // groups: ranks of each group; rows_and_columns: of a row, of a column
    uint32_t master = 0;            // rank
    double share = 0;               // of the bytes, that the shape accounts for
};

// Ranks that send less to one another than a quarter of what their heaviest partners get do not count: corners of a halo are few bytes.
// At most about a second for ten million pairs.
JobShape job_shape(const Traffic& traffic);

// "halo exchange on a grid of 16 x 32".
std::string shape_words(const JobShape& shape, uint32_t ranks);

} // namespace plumb::network
