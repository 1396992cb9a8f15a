// Lines and call sites of two sets of runs, one beside the other.
#pragma once

#include "compare/comparison.h"
#include "compare/match_places.h"

#include <vector>

namespace plumb {

// In no order. `whole_changed`: the time of the whole run did.
std::vector<ComparedAmount> compared_lines(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other,
                                           Pairing pairing, const PlaceMatch& match, bool whole_changed);

// Both as Comparison has them.
std::vector<ComparedSite> compared_allocations(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other,
                                               Pairing pairing, const PlaceMatch& match);
std::vector<ComparedSite> compared_mpi_sites(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other,
                                             Pairing pairing, const PlaceMatch& match, bool whole_changed);

} // namespace plumb
