#include "repeat/explanation.h"

#include "statistics/difference.h"
#include "statistics/rank_correlation.h"
#include "support/xorshift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace plumb::repeat {

namespace {

constexpr size_t kMostExplanations = 3, kPermutations = 4000;
constexpr double kUnlikely = 0.01;       // by chance
constexpr double kLeastFraction = 0.05;  // of the variance: less is not worth a line
constexpr double kAsClose = 0.02;        // as the closest: cannot be kept apart
constexpr size_t kRunsPerGroup = 3;      // at least, on average: an amount with more values is one along which the time may go

constexpr double kKnown = 0.75;          // of the runs: a short one may end before anybody looked
constexpr size_t kThirds = 3;            // that an amount with many values is shown in

using Seconds = std::vector<double>;

double sum_of_squares(const Seconds& values) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    double sum = 0;
    for (const double value : values)
        sum += (value - mean) * (value - mean);
    return sum;
}

// A condition of most runs: in groups, or along an amount.
struct Candidate {
    std::string name;
    bool is_amount = false;
    bool is_line = false;             // an amount with so many values that the time is taken to go along it
    std::vector<size_t> runs;         // that it is known of: what follows is by these
    std::vector<size_t> group;        // not of a line
    std::vector<std::string> labels;  // by group; of an amount, empty ones
    Seconds amount;

    size_t freedom() const { return is_line ? 1 : labels.size() - 1; }
};

// Of a run that the condition is not known of, the mean of the others: that it is not known explains nothing.
Seconds fit(const Candidate& candidate, const Seconds& values) {
    Seconds known;
    for (const size_t run : candidate.runs)
        known.push_back(values[run]);
    const auto count = static_cast<double>(known.size());
    const double mean = std::accumulate(known.begin(), known.end(), 0.0) / count;
    Seconds fitted(values.size(), mean);
    if (candidate.is_line) {
        const double middle = std::accumulate(candidate.amount.begin(), candidate.amount.end(), 0.0) / count;
        double both = 0, along = 0;
        for (size_t i = 0; i < known.size(); ++i) {
            both += (candidate.amount[i] - middle) * (known[i] - mean);
            along += (candidate.amount[i] - middle) * (candidate.amount[i] - middle);
        }
        for (size_t i = 0; i < known.size(); ++i)
            fitted[candidate.runs[i]] = mean + both / along * (candidate.amount[i] - middle);
        return fitted;
    }
    Seconds sums(candidate.labels.size());
    std::vector<double> members(candidate.labels.size());
    for (size_t i = 0; i < known.size(); ++i) {
        sums[candidate.group[i]] += known[i];
        members[candidate.group[i]] += 1;
    }
    for (size_t i = 0; i < known.size(); ++i)
        fitted[candidate.runs[i]] = sums[candidate.group[i]] / members[candidate.group[i]];
    return fitted;
}

double raw_fraction(const Candidate& candidate, const Seconds& values) {
    const double all = sum_of_squares(values);
    return all > 0 ? sum_of_squares(fit(candidate, values)) / all : 0;
}

// Adjusted R^2 (Ezekiel 1930): 0 on average where the condition has no effect.
double fraction_explained(const Candidate& candidate, const Seconds& values) {
    const double free_runs = static_cast<double>(values.size()) - 1 - static_cast<double>(candidate.freedom());
    return free_runs < 1 ? 0 : 1 - (1 - raw_fraction(candidate, values)) * (static_cast<double>(values.size()) - 1) / free_runs;
}

void group_by(Candidate& candidate, const std::vector<std::string>& values) {
    const std::set<std::string> distinct(values.begin(), values.end());
    candidate.labels.assign(distinct.begin(), distinct.end());
    for (const std::string& value : values)
        candidate.group.push_back(static_cast<size_t>(std::distance(distinct.begin(), distinct.find(value))));
}

std::vector<Candidate> candidates_of(std::span<const RunConditions* const> runs) {
    std::vector<Candidate> candidates;
    const auto can_count = [](const Candidate& candidate, size_t groups) {
        return groups > 1 && groups * kRunsPerGroup <= candidate.runs.size();
    };
    const auto is_known = [&](const Candidate& candidate) {
        return static_cast<double>(candidate.runs.size()) >= kKnown * static_cast<double>(runs.size());
    };
    std::set<std::string> kinds, amounts;
    for (const RunConditions* run : runs) {
        for (const auto& [name, kind] : run->kinds)
            kinds.insert(name);
        for (const auto& [name, amount] : run->amounts)
            amounts.insert(name);
    }
    for (const std::string& name : kinds) {
        std::vector<std::string> values;
        Candidate candidate{.name = name};
        for (size_t run = 0; run < runs.size(); ++run)
            if (const auto found = runs[run]->kinds.find(name); found != runs[run]->kinds.end()) {
                values.push_back(found->second);
                candidate.runs.push_back(run);
            }
        group_by(candidate, values);
        if (is_known(candidate) && can_count(candidate, candidate.labels.size()))
            candidates.push_back(std::move(candidate));
    }
    for (const std::string& name : amounts) {
        Candidate candidate{.name = name, .is_amount = true};
        for (size_t run = 0; run < runs.size(); ++run)
            if (const auto found = runs[run]->amounts.find(name); found != runs[run]->amounts.end()) {
                candidate.amount.push_back(found->second);
                candidate.runs.push_back(run);
            }
        if (!is_known(candidate))
            continue;
        const std::set<double> distinct(candidate.amount.begin(), candidate.amount.end());
        if (distinct.size() < 2)
            continue;
        candidate.is_line = !can_count(candidate, distinct.size());
        if (!candidate.is_line) {
            candidate.labels.resize(distinct.size());
            for (const double value : candidate.amount)
                candidate.group.push_back(static_cast<size_t>(std::distance(distinct.begin(), distinct.find(value))));
        }
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

// How often the closest of all candidates is as close to values in another order.
double chance_of(double fraction, const std::vector<Candidate>& candidates, const Seconds& values) {
    Xorshift random;
    Seconds shuffled = values;
    size_t as_close = 1; // the order at hand is one as well
    for (size_t i = 0; i < kPermutations; ++i) {
        for (size_t last = shuffled.size() - 1; last > 0; --last)
            std::swap(shuffled[last], shuffled[random.next() % (last + 1)]);
        as_close += std::ranges::any_of(
            candidates, [&](const Candidate& candidate) { return fraction_explained(candidate, shuffled) >= fraction; });
    }
    return static_cast<double>(as_close) / static_cast<double>(kPermutations + 1);
}

std::vector<ConditionGroup> groups_of(const Candidate& candidate, std::span<const double> seconds) {
    std::vector<std::vector<size_t>> members(candidate.is_line ? kThirds : candidate.labels.size());
    if (candidate.is_line) {
        std::vector<size_t> order(candidate.runs.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, {}, [&](size_t at) { return candidate.amount[at]; });
        for (size_t i = 0; i < order.size(); ++i)
            members[i * kThirds / order.size()].push_back(order[i]);
    } else {
        for (size_t at = 0; at < candidate.runs.size(); ++at)
            members[candidate.group[at]].push_back(at);
    }
    std::vector<ConditionGroup> groups;
    for (size_t i = 0; i < members.size(); ++i) {
        ConditionGroup group{.kind = candidate.is_amount ? "" : candidate.labels[i], .runs = members[i].size()};
        Seconds of_group;
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

std::vector<Explanation> explanations_of(std::span<const double> seconds, std::span<const RunConditions* const> runs) {
    std::vector<Explanation> found;
    if (runs.size() < 2 * kRunsPerGroup)
        return found;
    std::vector<Candidate> candidates = candidates_of(runs);
    const double all = sum_of_squares({seconds.begin(), seconds.end()});
    Seconds rest(seconds.begin(), seconds.end());
    while (!candidates.empty() && found.size() < kMostExplanations && all > 0) {
        const Seconds ranks = statistics::ranks_of(rest); // one run that took very long then weighs no more than any other
        std::vector<double> fractions;
        for (const Candidate& candidate : candidates)
            fractions.push_back(fraction_explained(candidate, ranks));
        const auto closest = static_cast<size_t>(std::distance(fractions.begin(), std::ranges::max_element(fractions)));
        Explanation explanation;
        explanation.fraction = fraction_explained(candidates[closest], rest) * sum_of_squares(rest) / all;
        if (explanation.fraction < kLeastFraction)
            break;
        explanation.probability = chance_of(fractions[closest], candidates, ranks);
        if (explanation.probability > kUnlikely)
            break;
        explanation.raw_fraction = raw_fraction(candidates[closest], rest) * sum_of_squares(rest) / all;
        explanation.condition = candidates[closest].name;
        explanation.fitted = fit(candidates[closest], rest);
        explanation.groups = groups_of(candidates[closest], seconds);
        for (size_t i = 0; i < rest.size(); ++i)
            rest[i] -= explanation.fitted[i];
        std::vector<Candidate> others;
        for (size_t i = 0; i < candidates.size(); ++i)
            if (i != closest && fractions[i] < fractions[closest] - kAsClose)
                others.push_back(std::move(candidates[i]));
            else if (i != closest)
                explanation.equally.push_back(candidates[i].name);
        candidates = std::move(others);
        found.push_back(std::move(explanation));
    }
    return found;
}

} // namespace plumb::repeat
