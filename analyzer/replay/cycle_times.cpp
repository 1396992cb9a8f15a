#include "replay/cycle_times.h"

#include "replay/cycle_kinds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace plumb::replay {

namespace {

constexpr double kBinsPerOctave = 8;
constexpr size_t kMostBins = 400; // 50 octaves
constexpr size_t kFewest = 10;    // of one kind: among fewer, no tenth is the fastest
constexpr double kSlow = 1.2;     // times the median

void add(model::MpiCycleParts& sum, const model::MpiCycleParts& parts, double factor) {
    sum.work_s += factor * parts.work_s;
    sum.imbalance_s += factor * parts.imbalance_s;
    sum.without_cpu_s += factor * parts.without_cpu_s;
    sum.blocked_s += factor * parts.blocked_s;
    sum.waiting_s += factor * parts.waiting_s;
    sum.mpi_s += factor * parts.mpi_s;
    sum.other_s += factor * parts.other_s;
}

// Value below which `part` of all lie: the nearest of the sorted ones.
double quantile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<size_t>(std::lround(part * static_cast<double>(sorted.size() - 1)))];
}

void make_series(const CycleTimes& times, model::MpiCycles& cycles) {
    const size_t count = times.length_s.size(), points = std::min(count, kMostCyclePoints);
    cycles.series.resize(points);
    for (size_t at = 0; at < count; ++at) {
        model::MpiCycles::Point& point = cycles.series[at * points / count];
        const double length_s = times.length_s[at];
        if (point.cycles == 0)
            point = {at, 0, times.begin_s[at], 0, length_s, 0, length_s};
        point.cycles++;
        point.end_s = times.begin_s[at] + length_s;
        point.least_s = std::min(point.least_s, length_s);
        point.most_s = std::max(point.most_s, length_s);
        point.mean_s += (length_s - point.mean_s) / static_cast<double>(point.cycles);
    }
}

void make_histogram(const std::vector<double>& sorted, model::MpiCycles& cycles) {
    const auto place = [](double length_s) {
        return static_cast<int>(std::floor(kBinsPerOctave * std::log2(std::max(length_s, 1e-9))));
    };
    const int first = place(sorted.front());
    cycles.histogram.resize(std::min(kMostBins, static_cast<size_t>(place(sorted.back()) - first + 1)));
    for (size_t bin = 0; bin < cycles.histogram.size(); ++bin) {
        cycles.histogram[bin].from_s = std::exp2((first + static_cast<double>(bin)) / kBinsPerOctave);
        cycles.histogram[bin].to_s = std::exp2((first + static_cast<double>(bin) + 1) / kBinsPerOctave);
    }
    for (const double length_s : sorted)
        cycles.histogram[std::min(cycles.histogram.size() - 1, static_cast<size_t>(place(length_s) - first))].cycles++;
}

// Cycles of one kind: what they would take, were all as fast as their fastest tenth.
struct KindSum {
    model::MpiCycleParts attainable; // of all its cycles
    double usual_s = 0;
    uint64_t slow = 0;
};

KindSum sum_of_kind(const CycleTimes& times, std::vector<uint32_t>& members) {
    std::ranges::sort(members, {}, [&](uint32_t at) { return std::pair(times.length_s[at], at); });
    const auto count = static_cast<double>(members.size());
    KindSum sum;
    if (members.size() < kFewest) {
        for (const uint32_t at : members) {
            add(sum.attainable, times.parts[at], 1);
            sum.usual_s += times.length_s[at];
        }
        return sum;
    }
    const size_t fast = members.size() / 10;
    for (size_t i = 0; i < fast; ++i)
        add(sum.attainable, times.parts[members[i]], count / static_cast<double>(fast));
    const double median_s = times.length_s[members[members.size() / 2]];
    sum.usual_s = median_s * count;
    for (const uint32_t at : members)
        sum.slow += times.length_s[at] > kSlow * median_s;
    return sum;
}

void find_loss(const CycleTimes& times, model::MpiCycles& cycles) {
    const size_t count = times.length_s.size();
    std::vector<double> undisturbed; // by the scheduler
    for (size_t at = 0; at < count; ++at)
        undisturbed.push_back(cycles.resolves_scheduler()
                                  ? std::max(times.length_s[at] - times.parts[at].without_cpu_s, 1e-3 * times.length_s[at])
                                  : times.length_s[at]);
    const CyclePattern pattern = pattern_of(undisturbed);
    cycles.period = static_cast<uint32_t>(pattern.period);
    cycles.drifts = pattern.drifts;
    cycles.kinds = static_cast<uint32_t>(std::set<uint64_t>(times.signature.begin(), times.signature.end()).size());
    std::vector<std::vector<uint32_t>> kinds;
    const std::vector<uint32_t> kind_of = kinds_of(pattern, times.signature);
    for (uint32_t at = 0; at < count; ++at) {
        kinds.resize(std::max<size_t>(kinds.size(), kind_of[at] + 1));
        kinds[kind_of[at]].push_back(at);
    }
    const double weight = 1 / static_cast<double>(count);
    for (const model::MpiCycleParts& parts : times.parts)
        add(cycles.mean, parts, weight);
    cycles.loss = cycles.mean;
    double attainable_s = 0;
    for (std::vector<uint32_t>& members : kinds) {
        const KindSum sum = sum_of_kind(times, members);
        add(cycles.loss, sum.attainable, -weight);
        attainable_s += weight * sum.attainable.sum_s();
        cycles.usual_s += weight * sum.usual_s;
        cycles.slow += sum.slow;
    }
    cycles.attainable_s = attainable_s;
    if (cycles.resolves_scheduler())
        return;
    model::MpiCycleParts& loss = cycles.loss;
    loss.other_s += loss.work_s + loss.imbalance_s + loss.without_cpu_s + loss.blocked_s;
    loss.work_s = loss.imbalance_s = loss.without_cpu_s = loss.blocked_s = 0;
}

} // namespace

void describe_cycles(const CycleTimes& times, model::MpiCycles& cycles) {
    if (times.length_s.empty())
        return;
    std::vector<double> sorted = times.length_s;
    std::ranges::sort(sorted);
    cycles.look_s = times.look_s;
    cycles.count = sorted.size();
    cycles.mean_s = std::accumulate(times.length_s.begin(), times.length_s.end(), 0.0) / static_cast<double>(sorted.size());
    cycles.least_s = sorted.front();
    cycles.tenth_s = quantile(sorted, 0.1);
    cycles.median_s = quantile(sorted, 0.5);
    cycles.ninetieth_s = quantile(sorted, 0.9);
    cycles.most_s = sorted.back();
    make_series(times, cycles);
    make_histogram(sorted, cycles);
    find_loss(times, cycles);
}

} // namespace plumb::replay
