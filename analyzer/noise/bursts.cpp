#include "noise/bursts.h"

#include <algorithm>
#include <cmath>

namespace plumb::noise {

namespace {

constexpr double kMostTurns = 3; // of the program, in slices of the daemon
constexpr double kCutSlice_s = 0.5e-3, kTurn_s = 5e-3;
constexpr double kBeside = 0.1; // of the longest slice

} // namespace

double longest_turn_s(double longest_slice_s) {
    return std::max(kMostTurns * longest_slice_s, longest_slice_s >= kCutSlice_s ? kTurn_s : 0);
}

bool is_beside(double slice_s, double longest_slice_s) { return slice_s < kBeside * longest_slice_s; }

SliceFollower::Place SliceFollower::next(double turn_s, double slice_s) {
    if (longest_s_ <= 0 || turn_s > longest_turn_s(longest_s_)) {
        longest_s_ = slice_s;
        return Place::begins;
    }
    const bool is_short = is_beside(slice_s, longest_s_);
    longest_s_ = std::max(longest_s_, slice_s);
    return is_short ? Place::goes_on_beside : Place::goes_on;
}

model::NoiseLosses join_bursts(const model::NoiseLosses& losses) {
    model::NoiseLosses joined = losses;
    joined.losses.clear();
    SliceFollower follower;
    double end_s = 0;
    for (const model::NoiseLoss& loss : losses.losses) {
        const bool is_same_place = !joined.losses.empty() && joined.losses.back().node == loss.node && joined.losses.back().cpu == loss.cpu;
        const SliceFollower::Place place = follower.next(is_same_place ? loss.begin_s - end_s : HUGE_VAL, loss.length_s);
        if (place == SliceFollower::Place::begins)
            joined.losses.push_back(loss);
        else
            joined.losses.back().length_s += loss.length_s;
        if (place != SliceFollower::Place::goes_on_beside)
            end_s = loss.begin_s + loss.length_s;
    }
    return joined;
}

} // namespace plumb::noise
