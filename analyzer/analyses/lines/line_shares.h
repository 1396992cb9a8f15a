// Adds up a cost by source line and hands the lines out as a finding's `where`.
#pragma once

#include "analyses/statements.h"
#include "model/run.h"
#include "model/source_line.h"

#include <map>
#include <string>
#include <vector>

namespace plumb {

class LineShares {
  public:
    // A frame of the kernel or of a system library means that the user's own code was not found on the call path:
    // it counts for the total, but is no place to look at.
    void add(const model::SourceFrame& frame, double weight);
    double total() const { return total_; }
    double unplaced_fraction() const { return total_ > 0 ? unplaced_ / total_ : 0; }

    // The `limit` heaviest lines, by share of everything added. Lines below `least_share` are left out, the
    // heaviest one never. Empty when nothing was added, or nothing of the user's.
    std::vector<Location> heaviest(size_t limit, double least_share = 0.01) const;

  private:
    struct Line {
        model::SourceFrame frame;
        double weight = 0;
    };
    std::map<model::SourceLine, Line> lines_;
    double total_ = 0, unplaced_ = 0;
};

// "file:line", or "function in module" where there is no line.
std::string place_name(const Location& location);

} // namespace plumb
