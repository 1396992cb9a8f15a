#include "noise/bursts.h"

#include <algorithm>

namespace plumb::noise {

namespace {

// Turns are of equal length where both have equal priority; the clock tick decides when one ends.
constexpr double kTurns = 1.5;

} // namespace

model::NoiseLosses join_bursts(const model::NoiseLosses& losses) {
    model::NoiseLosses joined = losses;
    joined.losses.clear();
    double end_s = 0, latest_s = 0; // of the loss before
    for (const model::NoiseLoss& loss : losses.losses) {
        const bool is_same_place = !joined.losses.empty() && joined.losses.back().node == loss.node && joined.losses.back().cpu == loss.cpu;
        if (is_same_place && loss.begin_s - end_s <= kTurns * std::max(latest_s, loss.length_s))
            joined.losses.back().length_s += loss.length_s;
        else
            joined.losses.push_back(loss);
        latest_s = loss.length_s;
        end_s = loss.begin_s + loss.length_s;
    }
    return joined;
}

} // namespace plumb::noise
