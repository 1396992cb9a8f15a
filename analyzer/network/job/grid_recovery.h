// Finds the grid on which a job's ranks exchange halos, from who sends to whom.
#pragma once

#include "network/job/job_shape.h"

namespace plumb::network {

// `heavy`: partners that may be neighbours on the grid, and hardly others. First a grid along which the ranks are numbered, x fastest
// as MPI_Cart_create does with the last dimension; then one in any order, by following which neighbours have a further common one.
// Grids that are shorter than 5 in a dimension in which they wrap, or than 3 in any, are found in the first way only.
std::optional<Grid> grid_of(const Partners& heavy);

// Of all bytes, what goes to neighbours on the grid, round its ends and diagonally included. 0 to 1.
double share_on_grid(const Grid& grid, const Partners& partners);

} // namespace plumb::network
