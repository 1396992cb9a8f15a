#include "repeat/candidate.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace plumb::repeat {

namespace {

constexpr double kKnown = 0.75;     // of the runs: a short one may end before anybody looked
constexpr size_t kRunsPerGroup = 3; // at least, on average: an amount with more values is one along which the time may go

void group_by(Candidate& candidate, const std::vector<std::string>& values) {
    const std::set<std::string> distinct(values.begin(), values.end());
    candidate.labels.assign(distinct.begin(), distinct.end());
    for (const std::string& value : values)
        candidate.group.push_back(static_cast<size_t>(std::distance(distinct.begin(), distinct.find(value))));
}

} // namespace

double sum_of_squares(const PerRun& values) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    double sum = 0;
    for (const double value : values)
        sum += (value - mean) * (value - mean);
    return sum;
}

PerRun fit(const Candidate& candidate, const PerRun& values) {
    PerRun known;
    for (const size_t run : candidate.runs)
        known.push_back(values[run]);
    const auto count = static_cast<double>(known.size());
    const double mean = std::accumulate(known.begin(), known.end(), 0.0) / count;
    PerRun fitted(values.size(), mean);
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
    PerRun sums(candidate.labels.size());
    std::vector<double> members(candidate.labels.size());
    for (size_t i = 0; i < known.size(); ++i) {
        sums[candidate.group[i]] += known[i];
        members[candidate.group[i]] += 1;
    }
    for (size_t i = 0; i < known.size(); ++i)
        fitted[candidate.runs[i]] = sums[candidate.group[i]] / members[candidate.group[i]];
    return fitted;
}

double raw_fraction(const Candidate& candidate, const PerRun& values) {
    const double all = sum_of_squares(values);
    return all > 0 ? sum_of_squares(fit(candidate, values)) / all : 0;
}

double fraction_explained(const Candidate& candidate, const PerRun& values) {
    const double free_runs = static_cast<double>(values.size()) - 1 - static_cast<double>(candidate.freedom());
    return free_runs < 1 ? 0 : 1 - (1 - raw_fraction(candidate, values)) * (static_cast<double>(values.size()) - 1) / free_runs;
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

} // namespace plumb::repeat
