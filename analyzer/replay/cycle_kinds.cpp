#include "replay/cycle_kinds.h"

#include "support/median.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace plumb::replay {

namespace {

constexpr size_t kLeastCycles = 40, kLeastInStretch = 10, kMostStretches = 16;
constexpr size_t kLongestPeriod = 64, kLeastPeriods = 4;
constexpr size_t kLeastRegular = 3;    // long places in one period: of two, their distances say nothing
constexpr double kBeyondChance = 6;    // standard deviations of R^2 of values without a pattern; some 60 periods are tried
constexpr double kLeastExplained = 0.15; // of the variance, where many cycles make less significant
constexpr double kAsGood = 0.03;       // of R^2: a multiple of the period explains no more than chance beyond it
constexpr double kLeastDrift = 0.2;    // epsilon squared of Kruskal and Wallis: a relatively large effect
constexpr double kLongCycle = 1.05, kBeyondScatter = 5; // times the median; times the median deviation from it
constexpr double kRounding = 1e-12;    // relative: values that differ by no more are equal
constexpr double kSameDistance = 0.8;  // of the distances between long cycles

size_t stretches_of(size_t cycles) { return std::clamp<size_t>(cycles / kLeastInStretch, 1, kMostStretches); }

size_t stretch_at(size_t cycle, size_t cycles) { return cycle * stretches_of(cycles) / cycles; }

// Ranks 1..n, the mean rank for equals.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t at) { return std::pair(values[at], at); });
    std::vector<double> ranks(values.size());
    for (size_t first = 0; first < order.size();) {
        size_t behind = first + 1;
        while (behind < order.size() && values[order[behind]] == values[order[first]])
            ++behind;
        for (size_t at = first; at < behind; ++at)
            ranks[order[at]] = static_cast<double>(first + behind + 1) / 2;
        first = behind;
    }
    return ranks;
}

// The part of the variance that lies between groups, adjusted for their number. `group_of`: number of a value's group.
template <class GroupOf> double explained_by(const std::vector<double>& values, size_t groups, const GroupOf& group_of) {
    std::vector<double> sums(groups);
    std::vector<size_t> counts(groups);
    double sum = 0;
    for (size_t at = 0; at < values.size(); ++at) {
        const size_t group = group_of(at);
        sums[group] += values[at];
        counts[group]++;
        sum += values[at];
    }
    const auto count = static_cast<double>(values.size());
    const double mean = sum / count;
    double all = 0, between = 0;
    for (const double value : values)
        all += (value - mean) * (value - mean);
    for (size_t group = 0; group < groups; ++group)
        if (counts[group]) {
            const double distance = sums[group] / static_cast<double>(counts[group]) - mean;
            between += static_cast<double>(counts[group]) * distance * distance;
        }
    const double freedom = count - static_cast<double>(groups);
    if (all <= kRounding * kRounding * (count + mean * mean) || freedom <= 0)
        return 0;
    return 1 - (all - between) / all * (count - 1) / freedom;
}

bool does_drift(const std::vector<double>& times) {
    const size_t groups = stretches_of(times.size());
    return groups > 1 && explained_by(ranks_of(times), groups, [&](size_t at) { return stretch_at(at, times.size()); }) > kLeastDrift;
}

// Logarithms; where cycles drift, against straight lines between the medians of the stretches: steps would look like a pattern.
std::vector<double> compared(const std::vector<double>& times, bool drifts) {
    std::vector<double> values;
    for (const double time : times)
        values.push_back(std::log(std::max(time, 1e-12)));
    if (!drifts)
        return values;
    std::vector<std::vector<double>> stretches(stretches_of(times.size()));
    for (size_t at = 0; at < values.size(); ++at)
        stretches[stretch_at(at, values.size())].push_back(values[at]);
    std::vector<double> medians;
    for (std::vector<double>& stretch : stretches)
        medians.push_back(upper_median(stretch));
    const double last = static_cast<double>(medians.size()) - 1;
    for (size_t at = 0; at < values.size(); ++at) {
        const double place = (static_cast<double>(at) + 0.5) * static_cast<double>(medians.size()) / static_cast<double>(values.size()) - 0.5;
        const size_t before = static_cast<size_t>(std::clamp(place, 0.0, last - 1)); // the ends follow the nearest line
        values[at] -= medians[before] + (place - static_cast<double>(before)) * (medians[before + 1] - medians[before]);
    }
    return values;
}

// What comes regularly in time, but not at a whole number of cycles, seems to repeat as well: long places in the period, at
// about the same distances, which cannot be equal. A program counts its cycles.
bool is_regular_in_time(const std::vector<double>& values, size_t period) {
    std::vector<double> means(period);
    for (size_t place = 0; place < period; ++place) {
        size_t count = 0;
        for (size_t at = place; at < values.size(); at += period, ++count)
            means[place] += values[at];
        means[place] /= static_cast<double>(count);
    }
    const auto [least, most] = std::ranges::minmax(means);
    const auto is_long = [&, middle = (least + most) / 2](size_t place) { return means[place % period] > middle; };
    std::vector<size_t> begins; // of long places, neighbours being one
    for (size_t place = 0; place < period; ++place)
        if (is_long(place) && !is_long(place + period - 1))
            begins.push_back(place);
    if (begins.size() < kLeastRegular || period % begins.size() == 0)
        return false;
    size_t shortest = period, longest = 0;
    for (size_t at = 0; at < begins.size(); ++at) {
        const size_t next = at + 1 < begins.size() ? begins[at + 1] : begins[0] + period;
        shortest = std::min(shortest, next - begins[at]);
        longest = std::max(longest, next - begins[at]);
    }
    return longest - shortest <= 1;
}

// 1: none.
size_t short_period(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    std::vector<double> explained;
    for (size_t period = 2; period <= kLongestPeriod && period * kLeastPeriods <= values.size(); ++period) {
        const double part = explained_by(values, period, [&](size_t at) { return at % period; });
        const double chance = std::sqrt(2 * (static_cast<double>(period) - 1)) / (count - static_cast<double>(period));
        explained.push_back(part >= std::max(kLeastExplained, kBeyondChance * chance) ? part : 0);
    }
    const double most = explained.empty() ? 0 : std::ranges::max(explained);
    for (size_t at = 0; at < explained.size(); ++at)
        if (most > 0 && explained[at] >= most - kAsGood)
            return is_regular_in_time(values, at + 2) ? 1 : at + 2;
    return 1;
}

// The distance at which long cycles follow one another, beyond what short_period() looks at.
void find_long_period(const std::vector<double>& values, CyclePattern& pattern) {
    std::vector<double> sorted = values;
    const double middle = upper_median(sorted);
    for (double& value : sorted)
        value = std::abs(value - middle);
    const double least = middle + std::max(std::log(kLongCycle), kBeyondScatter * upper_median(sorted));
    std::vector<size_t> places;
    for (size_t at = 0; at < values.size(); ++at)
        if (values[at] > least)
            places.push_back(at);
    if (places.size() < kLeastPeriods)
        return;
    std::map<size_t, size_t> distances;
    for (size_t at = 1; at < places.size(); ++at)
        distances[places[at] - places[at - 1]]++;
    const auto usual = std::ranges::max_element(distances, {}, [](const auto& entry) { return entry.second; });
    if (usual->first <= kLongestPeriod || static_cast<double>(usual->second) < kSameDistance * static_cast<double>(places.size() - 1))
        return;
    std::map<size_t, size_t> offsets;
    for (const size_t place : places)
        offsets[place % usual->first]++;
    pattern.period = usual->first;
    pattern.is_long = true;
    pattern.offset = std::ranges::max_element(offsets, {}, [](const auto& entry) { return entry.second; })->first;
}

} // namespace

CyclePattern pattern_of(const std::vector<double>& times) {
    CyclePattern pattern;
    if (times.size() < kLeastCycles)
        return pattern;
    pattern.drifts = does_drift(times);
    const std::vector<double> values = compared(times, pattern.drifts);
    pattern.period = short_period(values);
    if (pattern.period == 1)
        find_long_period(values, pattern);
    return pattern;
}

std::vector<uint32_t> kinds_of(const CyclePattern& pattern, const std::vector<uint64_t>& signature) {
    std::map<std::tuple<uint64_t, size_t, size_t>, uint32_t> numbers;
    std::vector<uint32_t> kinds;
    for (size_t at = 0; at < signature.size(); ++at) {
        const size_t place = pattern.is_long ? at % pattern.period == pattern.offset : at % pattern.period;
        // The places of a period divide the cycles already: fewer stretches, so that some of each kind remain.
        const size_t of_place = std::max<size_t>(1, signature.size() / (pattern.is_long ? 1 : pattern.period));
        const size_t stretch = pattern.drifts ? at * stretches_of(of_place) / signature.size() : 0;
        kinds.push_back(numbers.try_emplace({signature[at], place, stretch}, static_cast<uint32_t>(numbers.size())).first->second);
    }
    return kinds;
}

} // namespace plumb::replay
