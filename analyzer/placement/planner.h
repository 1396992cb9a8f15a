// In which order threads take CPUs: pure arithmetic on a topology, the allowed CPUs and a wish.
#pragma once

#include "platform/topology.h"

#include <string>
#include <vector>

namespace plumb::placement {

enum class Strategy {
    compact, // fill one shared cache after the other: its cores first, then their hardware siblings
    scatter, // as far apart as possible: round robin over packages, nodes, caches, cores; siblings last
    spread,  // every N-th allowed CPU; when those are used up the ones behind them, and so on
    list,    // the relative (or absolute) CPUs as written
};

struct Wish {
    Strategy strategy = Strategy::compact;
    int step = 1;               // spread: N >= 1
    std::vector<int> positions; // list
    bool absolute = false;      // list: operating-system numbers instead of relative ones
};

// Position k of the group's threads is cpus[k]. Threads beyond cpus.size() wrap around.
struct Plan {
    std::vector<int> cpus; // operating-system numbers; never empty; distinct unless the user's list repeats one
    // Positions that fulfil the wish alone: spread fills the gaps only behind this one. Else cpus.size().
    size_t first_pass = 0;
};

// `allowed`: sorted operating-system numbers, the n-th is relative CPU n. CPUs the topology does not know are
// placed behind all others, in numerical order. Throws plumb::Error when nothing is allowed, when the step is
// not positive, or when the list is empty or names a CPU that is not there or not allowed.
Plan plan_cpus(const platform::Topology& topology, const std::vector<int>& allowed, const Wish& wish);

// "compact", "scatter", "spread:4", "list:0,2,4-7" or just "0,2,4-7" -> a wish. Throws plumb::Error.
Wish parse_wish(const std::string& text);
std::string describe_wish(const Wish& wish); // the inverse

} // namespace plumb::placement
