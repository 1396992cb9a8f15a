#include "repeat/variation.h"

#include "statistics/rank_correlation.h"
#include "support/xorshift.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace plumb::repeat {

namespace {

constexpr size_t kFewestRuns = 6, kDraws = 1000;
constexpr double kLeastSpread = 0.03;
constexpr double kClose = 0.6, kUnlikely = 0.01; // a companion's correlation, and chance

using Values = std::vector<double>;

double mean_of(const Values& values, const std::vector<size_t>& runs) {
    double sum = 0;
    for (const size_t run : runs)
        sum += values[run];
    return sum / static_cast<double>(runs.size());
}

double covariance(const Values& left, const Values& right, const std::vector<size_t>& runs) {
    const double left_mean = mean_of(left, runs), right_mean = mean_of(right, runs);
    double sum = 0;
    for (const size_t run : runs)
        sum += (left[run] - left_mean) * (right[run] - right_mean);
    return sum;
}

double share_of(const Values& part, const Values& wall, const std::vector<size_t>& runs) {
    const double variance = covariance(wall, wall, runs);
    return variance > 0 ? covariance(part, wall, runs) / variance : 0;
}

// Efron's percentiles.
void set_interval(VariedPart& part, const Values& values, const Values& wall) {
    Xorshift random;
    Values shares;
    std::vector<size_t> drawn(wall.size());
    for (size_t draw = 0; draw < kDraws; ++draw) {
        for (size_t& run : drawn)
            run = random.next() % wall.size();
        shares.push_back(share_of(values, wall, drawn));
    }
    std::ranges::sort(shares);
    part.low = shares[kDraws / 40];
    part.high = shares[kDraws - 1 - kDraws / 40];
}

std::optional<Companion> companion_of(const std::vector<RunFigures>& runs, const Values& part_s) {
    std::optional<Companion> closest;
    size_t tried = 0;
    for (const auto& [name, unit] : runs.front().units) {
        if (unit == "seconds" || unit.ends_with("per second")) // they follow from the time
            continue;
        Values values;
        for (const RunFigures& run : runs)
            if (const auto found = run.metrics.find(name); found != run.metrics.end())
                values.push_back(found->second);
        if (values.size() != runs.size() || std::ranges::min(values) == std::ranges::max(values))
            continue;
        ++tried;
        const statistics::RankCorrelation with = statistics::rank_correlation_of(values, part_s);
        if (!closest || with.probability < closest->probability)
            closest = Companion{name, with.correlation, with.probability};
    }
    if (!closest)
        return std::nullopt;
    closest->probability = std::min(1.0, closest->probability * static_cast<double>(tried)); // Bonferroni
    return std::fabs(closest->correlation) >= kClose && closest->probability <= kUnlikely ? closest : std::nullopt;
}

} // namespace

bool Variation::is_known() const { return spread >= kLeastSpread && !parts.empty() && parts.front().low > 0; }

Variation variation_of(const std::vector<RunFigures>& runs) {
    Variation variation;
    Values wall;
    std::set<std::string> names;
    for (const RunFigures& run : runs) {
        double sum_s = 0;
        for (const auto& [name, seconds] : run.wall_parts_s) {
            names.insert(name);
            sum_s += seconds;
        }
        wall.push_back(sum_s);
    }
    if (wall.empty() || std::ranges::min(wall) <= 0)
        return variation;
    variation.spread = std::ranges::max(wall) / std::ranges::min(wall) - 1;
    if (runs.size() < kFewestRuns)
        return variation;
    std::vector<size_t> all(runs.size());
    std::iota(all.begin(), all.end(), size_t{0});
    std::map<std::string, Values> values;
    for (const std::string& name : names) {
        Values& of_part = values[name];
        for (const RunFigures& run : runs) {
            const auto found = run.wall_parts_s.find(name);
            of_part.push_back(found == run.wall_parts_s.end() ? 0 : found->second);
        }
        VariedPart part;
        part.name = name;
        part.share = share_of(of_part, wall, all);
        part.least_s = std::ranges::min(of_part);
        part.most_s = std::ranges::max(of_part);
        set_interval(part, of_part, wall);
        variation.parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(variation.parts, std::greater<>(), &VariedPart::share);
    variation.companion = companion_of(runs, values[variation.parts.front().name]);
    return variation;
}

} // namespace plumb::repeat
