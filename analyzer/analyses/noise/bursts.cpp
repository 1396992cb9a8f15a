#include "analyses/noise/bursts.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr uint64_t kLeastPart = 5;     // of the time since the burst began
constexpr double kRegularWithin = 0.1; // of the median distance
constexpr size_t kFewestBursts = 3;

} // namespace

std::vector<NoiseBurst> bursts_of(std::span<const model::MeasuredLoss* const> losses) {
    std::vector<NoiseBurst> bursts;
    for (const model::MeasuredLoss* loss : losses) {
        const uint64_t end_ns = loss->begin_ns + loss->length_ns;
        NoiseBurst* const last = bursts.empty() ? nullptr : &bursts.back();
        if (last && (loss->begin_ns <= last->end_ns ||
                     (last->length_ns + loss->length_ns) * kLeastPart >= end_ns - last->begin_ns)) {
            last->end_ns = std::max(last->end_ns, end_ns);
            last->length_ns += loss->length_ns;
        } else {
            bursts.push_back({loss->cpu, loss->begin_ns, end_ns, loss->length_ns});
        }
    }
    return bursts;
}

BurstRhythm rhythm_of(std::span<const NoiseBurst> bursts) {
    BurstRhythm rhythm;
    if (bursts.empty())
        return rhythm;
    double sum_s = 0, squares = 0;
    for (const NoiseBurst& burst : bursts) {
        const double length_s = static_cast<double>(burst.length_ns) * 1e-9;
        sum_s += length_s;
        squares += length_s * length_s;
    }
    const auto count = static_cast<double>(bursts.size());
    rhythm.mean_s = sum_s / count;
    rhythm.spread_s = std::sqrt(std::max(0.0, squares / count - rhythm.mean_s * rhythm.mean_s));
    if (bursts.size() < kFewestBursts)
        return rhythm;
    std::vector<double> distances_s;
    for (size_t i = 1; i < bursts.size(); ++i)
        distances_s.push_back(static_cast<double>(bursts[i].begin_ns - bursts[i - 1].begin_ns) * 1e-9);
    std::ranges::sort(distances_s);
    rhythm.period_s = distances_s[distances_s.size() / 2];
    const auto near = std::ranges::count_if(distances_s, [&](double distance_s) {
        return std::abs(distance_s - rhythm.period_s) <= kRegularWithin * rhythm.period_s;
    });
    rhythm.is_regular = static_cast<size_t>(near) * 2 >= distances_s.size() && distances_s.size() + 1 >= kFewestBursts;
    return rhythm;
}

} // namespace plumb
