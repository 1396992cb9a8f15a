#include "repeat/explanation.h"

#include "repeat/candidate.h"
#include "statistics/difference.h"
#include "statistics/rank_correlation.h"
#include "support/xorshift.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace plumb::repeat {

namespace {

constexpr size_t kMostExplanations = 3, kPermutations = 4000;
constexpr size_t kFewestToExplain = 6;
constexpr double kUnlikely = 0.01;       // by chance
constexpr double kLeastFraction = 0.05;  // of the variance: less is not worth a line
constexpr double kAsClose = 0.02;        // as the closest: cannot be kept apart
constexpr size_t kThirds = 3;            // that an amount with many values is shown in
constexpr double kGapOfHeaps = 0.5;      // of the range of an amount
constexpr double kRounding = 1e-9;       // of the variance: less is none

// The fraction of the orders of the values, the one at hand included, for which `is_as_close` is true.
double chance_of(PerRun values, const std::function<bool(const PerRun&)>& is_as_close) {
    Xorshift random;
    size_t as_close = 1;
    for (size_t i = 0; i < kPermutations; ++i) {
        for (size_t last = values.size() - 1; last > 0; --last)
            std::swap(values[last], values[random.next() % (last + 1)]);
        as_close += is_as_close(values);
    }
    return static_cast<double>(as_close) / static_cast<double>(kPermutations + 1);
}

// That the closest of all candidates is as close as that by chance.
double chance_of_any(double fraction, const std::vector<Candidate>& candidates, const PerRun& values) {
    return chance_of(values, [&](const PerRun& shuffled) {
        return std::ranges::any_of(candidates,
                                   [&](const Candidate& candidate) { return fraction_explained(candidate, shuffled) >= fraction; });
    });
}

PerRun less(const PerRun& values, const PerRun& fitted) {
    PerRun left(values.size());
    std::ranges::transform(values, fitted, left.begin(), std::minus<>());
    return left;
}

// What changes from the first run to the last in one direction, as a file cache that fills, goes with everything else that does, as a
// machine that heats up or is asked for more: with the time as well, though it may have no effect on it. So a condition must explain
// what a straight line along the order of the runs leaves of the time.
class OrderOfRuns {
  public:
    explicit OrderOfRuns(size_t runs) {
        line_.is_line = true;
        line_.labels.resize(2);
        line_.runs.resize(runs);
        std::iota(line_.runs.begin(), line_.runs.end(), size_t{0});
        line_.amount.assign(line_.runs.begin(), line_.runs.end());
    }

    // By permutations of what the line leaves (Freedman and Lane 1983).
    bool is_all_there_is_to(const Candidate& candidate, const PerRun& values) const {
        const PerRun along = less(line_.amount, fit(candidate, line_.amount)), left = less(values, fit(line_, values));
        if (sum_of_squares(left) <= kRounding * sum_of_squares(values))
            return true;
        const double unexplained = unexplained_by(candidate, along, left);
        return chance_of(left, [&](const PerRun& shuffled) { return unexplained_by(candidate, along, shuffled) <= unexplained; }) > kUnlikely;
    }

  private:
    // Of the variance, by candidate and line together: what the candidate leaves, on what it leaves of the line (Frisch, Waugh 1933).
    double unexplained_by(const Candidate& candidate, const PerRun& along, const PerRun& values) const {
        const PerRun left = less(values, fit(candidate, values));
        const double both = std::inner_product(left.begin(), left.end(), along.begin(), 0.0), line = sum_of_squares(along);
        const double by_both = sum_of_squares(left) - (line > 0 ? both * both / line : 0);
        return by_both / sum_of_squares(less(values, fit(line_, values)));
    }

    Candidate line_;
};

// Where its values lie in two heaps, these, and else the lower, middle and upper third of the runs; each by places in candidate.runs.
std::vector<std::vector<size_t>> parts_of_line(const Candidate& candidate) {
    std::vector<size_t> sorted(candidate.runs.size());
    std::iota(sorted.begin(), sorted.end(), size_t{0});
    std::ranges::stable_sort(sorted, {}, [&](size_t at) { return candidate.amount[at]; });
    const double range = candidate.amount[sorted.back()] - candidate.amount[sorted.front()];
    const auto gap = std::ranges::adjacent_find(
        sorted, [&](size_t at, size_t next) { return candidate.amount[next] - candidate.amount[at] > kGapOfHeaps * range; });
    if (gap != sorted.end())
        return {{sorted.begin(), gap + 1}, {gap + 1, sorted.end()}};
    std::vector<std::vector<size_t>> thirds(kThirds);
    for (size_t i = 0; i < sorted.size(); ++i)
        thirds[i * kThirds / sorted.size()].push_back(sorted[i]);
    return thirds;
}

std::vector<ConditionGroup> groups_of(const Candidate& candidate, std::span<const double> seconds) {
    std::vector<std::vector<size_t>> members(candidate.is_line ? 0 : candidate.labels.size());
    if (candidate.is_line) {
        members = parts_of_line(candidate);
    } else {
        for (size_t at = 0; at < candidate.runs.size(); ++at)
            members[candidate.group[at]].push_back(at);
    }
    std::vector<ConditionGroup> groups;
    for (size_t i = 0; i < members.size(); ++i) {
        ConditionGroup group{.kind = candidate.is_amount ? "" : candidate.labels[i], .runs = members[i].size()};
        PerRun of_group;
        for (const size_t at : members[i])
            of_group.push_back(seconds[candidate.runs[at]]);
        group.median_s = statistics::median_of(of_group);
        if (candidate.is_amount) {
            const auto [least, most] = std::ranges::minmax(members[i], {}, [&](size_t at) { return candidate.amount[at]; });
            group.least = candidate.amount[least];
            group.most = candidate.amount[most];
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

} // namespace

Explanations explanations_of(std::span<const double> seconds, std::span<const RunConditions* const> runs) {
    Explanations found;
    if (runs.size() < kFewestToExplain)
        return found;
    const OrderOfRuns order(runs.size());
    std::vector<Candidate> candidates = candidates_of(runs);
    PerRun rest(seconds.begin(), seconds.end());
    const double all = sum_of_squares(rest);
    while (!candidates.empty() && found.by_condition.size() < kMostExplanations && all > 0) {
        const PerRun ranks = statistics::ranks_of(rest); // one run that took very long then weighs no more than any other
        PerRun fractions;
        for (const Candidate& candidate : candidates)
            fractions.push_back(fraction_explained(candidate, ranks));
        const auto closest = std::distance(fractions.begin(), std::ranges::max_element(fractions));
        const Candidate candidate = candidates[static_cast<size_t>(closest)];
        const double fraction_of_ranks = fractions[static_cast<size_t>(closest)];
        Explanation explanation;
        explanation.fraction = fraction_explained(candidate, rest) * sum_of_squares(rest) / all;
        if (explanation.fraction < kLeastFraction)
            break;
        explanation.probability = chance_of_any(fraction_of_ranks, candidates, ranks);
        if (explanation.probability > kUnlikely)
            break;
        candidates.erase(candidates.begin() + closest);
        fractions.erase(fractions.begin() + closest);
        if (order.is_all_there_is_to(candidate, ranks)) {
            found.only_along_the_order.push_back(candidate.name);
            continue;
        }
        explanation.raw_fraction = raw_fraction(candidate, rest) * sum_of_squares(rest) / all;
        explanation.condition = candidate.name;
        explanation.fitted = fit(candidate, rest);
        explanation.groups = groups_of(candidate, seconds);
        rest = less(rest, explanation.fitted);
        std::vector<Candidate> others;
        for (size_t i = 0; i < candidates.size(); ++i)
            if (fractions[i] < fraction_of_ranks - kAsClose)
                others.push_back(std::move(candidates[i]));
            else
                explanation.equally.push_back(candidates[i].name);
        candidates = std::move(others);
        found.by_condition.push_back(std::move(explanation));
    }
    return found;
}

} // namespace plumb::repeat
