#include "simulate/skipped_classes.h"

#include "simulate/duration_draw.h"

#include <algorithm>
#include <cmath>

namespace plumb::simulate {

namespace {

constexpr double kEnoughSkipped = 0.9;
constexpr double kMostSkippedShare = 0.5;

// Events of a periodic train that can begin in any interval of this length: those whose places are in it, and those shifted in.
double most_events(const SkippedClasses::Limit& limit, double interval_s) {
    return std::floor(interval_s / limit.period_s + 2 * limit.most_shift) + 1;
}

} // namespace

// What noise adds to computing from a moment s on is sup over x >= 0 of the lengths of the events in [s - x, finish) - x. With
// x = 0 the interval is the work and the delay; it pays to go back at most by the longest busy period. Iterated from below to
// the least fixed point.
double SkippedClasses::most_delay_s(size_t first, double work_s) const {
    const double back_s = longest_busy_s(first);
    double delay_s = 0;
    while (true) {
        double next_s = 0;
        for (size_t i = first; i < limits.size(); i++)
            next_s += limits[i].length_s * most_events(limits[i], work_s + delay_s + back_s);
        if (next_s <= delay_s)
            return delay_s;
        delay_s = next_s;
    }
}

// While a CPU is busy for b, the events that begin in b are at least as long: b <= sum L (b / T + 2 shift + 1).
double SkippedClasses::longest_busy_s(size_t first) const {
    double once_s = 0, share = 0;
    for (size_t i = first; i < limits.size(); i++) {
        once_s += limits[i].length_s * (1 + 2 * limits[i].most_shift);
        share += limits[i].length_s / limits[i].period_s;
    }
    return once_s / (1 - share);
}

SkippedClasses choose_skipped(const RankNoise& noise) {
    SkippedClasses result;
    std::vector<uint32_t> by_frequency;
    double all_hz = 0;
    for (uint32_t i = 0; i < noise.machine().classes.size(); i++)
        if (noise.is_felt(i)) {
            by_frequency.push_back(i);
            all_hz += noise.events_hz(i);
        }
    std::ranges::stable_sort(by_frequency, std::greater{}, [&](uint32_t i) { return noise.events_hz(i); });
    double skipped_hz = 0, share = 0;
    for (const uint32_t i : by_frequency) {
        const model::NoiseClass& one = noise.machine().classes[i];
        const double takes = longest_length_s(one.duration) * one.frequency_hz;
        if (noise.train(i).is_periodic() && has_short_tail(one.duration) && skipped_hz < kEnoughSkipped * all_hz &&
            share + takes <= kMostSkippedShare) {
            result.skipped.push_back(i);
            skipped_hz += noise.events_hz(i);
            share += takes;
        } else {
            result.watched.push_back(i);
        }
    }
    const auto longest = [&](uint32_t i) { return longest_length_s(noise.machine().classes[i].duration); };
    std::ranges::stable_sort(result.skipped, std::greater{}, longest);
    for (const uint32_t i : result.skipped)
        result.limits.push_back({longest(i), noise.train(i).period_s(), noise.train(i).most_shift()});
    return result;
}

} // namespace plumb::simulate
