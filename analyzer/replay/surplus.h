// What of a rank's extra work is its own, and what is chance that would stay with it.
//
// A rank that computes as long as the others on average is last half of the time all the same: each rank's time scatters, and
// the epoch waits for whoever scattered most. The extra work of those epochs cannot be cured. Distinguished by how far the rank
// was from the median of the others over all epochs, not only where it was last: scatter lies on both sides of the middle, a
// rank's own surplus moves the middle, and what only comes now and then lies far out on one side.
#pragma once

#include "replay/events/clock.h"
#include "replay/events/log_histogram.h"

namespace plumb::replay {

struct Surplus {
    double usual_ns = 0;   // in the median epoch, 0: none
    double rare_share = 1; // of what an epoch has beyond that: not mirrored on the other side

    // `extra`: over the median of the others, in all epochs of the rank.
    static Surplus of(const LogHistogram& extra) {
        const double middle = extra.quantile(0.5);
        const LogHistogram::Distances distances = extra.distances_from(middle);
        return {std::max(0.0, middle), distances.above > 0 ? std::max(0.0, 1 - distances.below / distances.above) : 1};
    }

    // Of one epoch's extra work.
    Nanoseconds curable(Nanoseconds extra) const {
        const auto all = static_cast<double>(extra);
        return static_cast<Nanoseconds>(all <= usual_ns ? all : usual_ns + rare_share * (all - usual_ns));
    }
};

} // namespace plumb::replay
