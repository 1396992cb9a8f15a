// The loops over large arrays of a run as a whole: what they move, what the machine could move, and their part of the time.
#pragma once

#include "analyses/lines/line_shares.h"
#include "analyses/memory/bandwidth_use.h"

#include <optional>

namespace plumb {

// Of the host that moves most. Means over the moments at which such loops were looked at, by the time that they stand for.
struct BandwidthSummary {
    double bytes_per_s = 0;
    double threads = 0;       // that stream at once
    double roof_fraction = 0; // of what as many threads could move in a test after the run; 0: not known
    double roof_times_one_thread = 0; // what they could move in the test, against what one could; 0: not known
    double time_fraction = 0; // of all sampled time, in these loops
    size_t bursts = 0;
    std::vector<Location> where; // the heaviest lines of these loops
};

// Nothing: no loop goes over arrays that are larger than the caches. `sampled_s`: time of the whole run. Without `where`.
std::optional<BandwidthSummary> summarise_bandwidth(const std::vector<BandwidthUse>& uses, double sampled_s);

// Of the loops of all hosts.
std::vector<Location> streaming_lines(const std::vector<BandwidthUse>& uses, model::CallPaths& paths, size_t limit);

} // namespace plumb
