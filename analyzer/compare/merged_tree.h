// The call trees of two sets of runs as one, for a flame graph of what changed.
#pragma once

#include "compare/pairing.h"
#include "compare/run_figures.h"

#include <string>
#include <vector>

namespace plumb {

struct MergedFrame {
    std::string name, module; // as in CallTreeNode
    TimeClass kind = TimeClass::computing; // in the run where it takes most
    double base_s = 0, other_s = 0;        // thread seconds here and in all below, means over the runs: means add up
    bool has_changed = false;
    std::vector<MergedFrame> children; // by the larger of both means; below a thousandth of the root's left out
};

// Frames below the same callers with the same name are the same, whatever build they are of. `whole_changed`: the time of
// the whole run did, without which no frame is said to have.
MergedFrame merged_tree(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other, Pairing pairing,
                        bool whole_changed);

} // namespace plumb
