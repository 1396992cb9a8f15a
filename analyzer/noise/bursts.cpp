#include "noise/bursts.h"

#include <algorithm>

namespace plumb::noise {

namespace {

constexpr double kMostTurns = 3; // of the program, in slices of the daemon
constexpr double kCutSlice_s = 0.5e-3, kTurn_s = 5e-3;

} // namespace

double longest_turn_s(double longest_slice_s) {
    return std::max(kMostTurns * longest_slice_s, longest_slice_s >= kCutSlice_s ? kTurn_s : 0);
}

model::NoiseLosses join_bursts(const model::NoiseLosses& losses) {
    model::NoiseLosses joined = losses;
    joined.losses.clear();
    double end_s = 0, longest_s = 0; // of the latest event: where its last slice ends, and the longest slice of it
    for (const model::NoiseLoss& loss : losses.losses) {
        const bool is_same_place = !joined.losses.empty() && joined.losses.back().node == loss.node && joined.losses.back().cpu == loss.cpu;
        if (is_same_place && loss.begin_s - end_s <= longest_turn_s(longest_s)) {
            joined.losses.back().length_s += loss.length_s;
            longest_s = std::max(longest_s, loss.length_s);
        } else {
            joined.losses.push_back(loss);
            longest_s = loss.length_s;
        }
        end_s = loss.begin_s + loss.length_s;
    }
    return joined;
}

} // namespace plumb::noise
