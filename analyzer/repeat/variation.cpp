#include "repeat/variation.h"

#include "support/xorshift.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace plumb::repeat {

namespace {

constexpr size_t kFewestRuns = 6, kDraws = 1000;
constexpr double kLeastSpread = 0.03;

using Values = std::vector<double>;
using Indexes = std::vector<size_t>;

double mean_of(const Values& values, const Indexes& runs) {
    double sum = 0;
    for (const size_t run : runs)
        sum += values[run];
    return sum / static_cast<double>(runs.size());
}

double covariance(const Values& left, const Values& right, const Indexes& runs) {
    const double left_mean = mean_of(left, runs), right_mean = mean_of(right, runs);
    double sum = 0;
    for (const size_t run : runs)
        sum += (left[run] - left_mean) * (right[run] - right_mean);
    return sum;
}

// How much of the wall time's variance runs have in common with a part of theirs.
class Apportioning {
  public:
    explicit Apportioning(Values wall) : wall_(std::move(wall)), all_(wall_.size()) { std::iota(all_.begin(), all_.end(), size_t{0}); }

    double spread() const {
        const double variance = covariance(wall_, wall_, all_) / static_cast<double>(wall_.size() - 1);
        return std::sqrt(variance) / mean_of(wall_, all_);
    }
    double share(const Values& part) const { return share_in(part, all_); }
    Interval interval(const Values& part, double scale) const {
        Xorshift random;
        Values shares;
        Indexes drawn(wall_.size());
        for (size_t draw = 0; draw < kDraws; ++draw) {
            for (size_t& run : drawn)
                run = random.next() % wall_.size();
            shares.push_back(scale * share_in(part, drawn));
        }
        std::ranges::sort(shares);
        return {shares[kDraws / 40], shares[kDraws - 1 - kDraws / 40]};
    }

  private:
    double share_in(const Values& part, const Indexes& runs) const {
        const double variance = covariance(wall_, wall_, runs);
        return variance > 0 ? covariance(part, wall_, runs) / variance : 0;
    }

    Values wall_;
    Indexes all_;
};

struct PartValues {
    bool is_work = false;
    Values seconds; // by run
};

std::map<std::string, PartValues> parts_by_run(const std::vector<RunFigures>& runs) {
    std::map<std::string, PartValues> parts;
    for (size_t run = 0; run < runs.size(); ++run)
        for (const auto& [name, part] : runs[run].wall_parts) {
            PartValues& values = parts[name];
            values.is_work |= part.is_work;
            values.seconds.resize(runs.size());
            values.seconds[run] = part.seconds;
        }
    return parts;
}

void explain_work(const std::vector<RunFigures>& runs, const Values& work, const Apportioning& wall, Variation& variation) {
    std::vector<const RunConditions*> conditions;
    for (const RunFigures& run : runs)
        conditions.push_back(&run.conditions);
    variation.unexplained = wall.share(work);
    Explanations explanations = explanations_of(work, conditions);
    variation.only_along_the_order = std::move(explanations.only_along_the_order);
    for (Explanation& explanation : explanations.by_condition) {
        VariedCondition condition;
        const double beyond_chance = explanation.fraction / explanation.raw_fraction;
        condition.share = beyond_chance * wall.share(explanation.fitted);
        condition.interval = wall.interval(explanation.fitted, beyond_chance);
        condition.explanation = std::move(explanation);
        variation.unexplained -= condition.share;
        variation.conditions.push_back(std::move(condition));
    }
}

} // namespace

bool Variation::is_notable() const { return spread >= kLeastSpread; }

bool Variation::is_known() const {
    return is_notable() && (!conditions.empty() || std::ranges::any_of(parts, [&](const VariedPart& part) { return is_cause(part); }));
}

Variation variation_of(const std::vector<RunFigures>& runs) {
    Variation variation;
    if (runs.size() < kFewestRuns)
        return variation;
    const std::map<std::string, PartValues> by_name = parts_by_run(runs);
    Values wall_s(runs.size()), work_s(runs.size());
    for (const auto& [name, part] : by_name)
        for (size_t run = 0; run < runs.size(); ++run) {
            wall_s[run] += part.seconds[run];
            work_s[run] += part.is_work ? part.seconds[run] : 0;
        }
    if (std::ranges::min(wall_s) <= 0)
        return variation;
    const Apportioning wall(wall_s);
    variation.spread = wall.spread();
    for (const auto& [name, values] : by_name)
        variation.parts.push_back({name, values.is_work, wall.share(values.seconds), wall.interval(values.seconds, 1),
                                   std::ranges::min(values.seconds), std::ranges::max(values.seconds)});
    std::ranges::stable_sort(variation.parts, std::greater<>(), &VariedPart::share);
    explain_work(runs, work_s, wall, variation);
    return variation;
}

} // namespace plumb::repeat
