// Ranks that are late together: several compute longer than the rest, and about as long as one another. The others wait for
// whichever of them happens to be last, so that each alone would gain nothing, and all of them together would.
//
// Who they are is known from the ranks' sums of compute time, before any event is read; what they cost by laying the collectives
// side by side (charges.h).
#pragma once

#include "replay/events/job.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

// Distinct levels of compute time above that of at least half of the ranks, the slowest first: the ranks of each, ascending.
// Nothing where time falls off gradually from rank to rank: the distance from a level to what lies below it is `least_s` at least,
// and more than both the level's own width and the scatter of the usual ranks.
std::vector<std::vector<uint32_t>> find_levels(const std::vector<double>& compute_s, double least_s);

class LateLevels {
  public:
    static constexpr size_t kMost = 3;

    // None where there is no more to tell than of single ranks: neither a level of several, nor one below another.
    static LateLevels of(const model::Run& run, const Job& job);

    size_t size() const { return levels_.size(); }
    const std::vector<uint32_t>& rows(size_t level) const { return levels_[level]; }
    size_t level_of(uint32_t row) const { return row < level_of_.size() ? level_of_[row] : size(); } // size(): none

  private:
    std::vector<std::vector<uint32_t>> levels_;
    std::vector<size_t> level_of_; // by row; empty: there are no levels
};

} // namespace plumb::replay
