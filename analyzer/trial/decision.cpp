#include "trial/decision.h"

#include "statistics/difference.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

namespace plumb::trial {

namespace {

struct Look {
    size_t pairs;
    double tail; // the chance that is spent on it, for either side
};

// 1/64, 1/256 and 2/1024 are the least chances of 6, 8 and 10 signs; the rest divide what is left of 2.5 %.
constexpr std::array<Look, 8> kLooks{{{6, 0.0157},
                                      {8, 0.0040},
                                      {10, 0.0020},
                                      {13, 0.00066},
                                      {17, 0.00066},
                                      {22, 0.00066},
                                      {30, 0.00066},
                                      {kMostPairs, 0.00066}}};
constexpr double kAllTails = 0.025;
constexpr double sum_of_tails() {
    double sum = 0;
    for (const Look& look : kLooks)
        sum += look.tail;
    return sum;
}
static_assert(sum_of_tails() <= kAllTails + 1e-9);
static_assert(kLooks.front().pairs == kLeastPairs);

constexpr size_t kLeastForChance = kLeastPairs; // fewer say too little of how they scatter

// The one that this number of pairs is due for, or comes before.
const Look& look_at(size_t pairs) {
    const auto found = std::ranges::find_if(kLooks, [pairs](const Look& look) { return look.pairs >= pairs; });
    return found == kLooks.end() ? kLooks.back() : *found;
}

// What is left of the chance when no look follows this one.
double tail_of_last(size_t pairs) {
    double left = 0;
    for (const Look& look : kLooks)
        if (look.pairs >= pairs)
            left += look.tail;
    return left;
}

// Of a mean whose deviation was estimated from so many pairs: further from certainty than a normal distribution.
double cdf(double z, size_t pairs) {
    return boost::math::cdf(boost::math::students_t(static_cast<double>(pairs - 1)), z);
}

struct Scatter {
    double middle = 0, deviation = 0; // of the logarithms of the ratios
};

// The median, of an even number the upper one; the order is lost.
double middle_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

// By medians: a run that another program disturbed is no measure of the others.
Scatter scatter_of(std::span<const double> base_s, std::span<const double> cure_s) {
    constexpr double kMedianOfDifferences = 0.954; // of two values of a normal distribution, in standard deviations
    std::vector<double> ratios, averages, differences;
    for (size_t i = 0; i < base_s.size(); ++i)
        ratios.push_back(std::log(cure_s[i] / base_s[i]));
    for (size_t i = 0; i < ratios.size(); ++i)
        for (size_t j = i; j < ratios.size(); ++j) {
            averages.push_back((ratios[i] + ratios[j]) / 2);
            if (i != j)
                differences.push_back(std::abs(ratios[i] - ratios[j]));
        }
    return {middle_of(averages), middle_of(differences) / kMedianOfDifferences};
}

Verdict verdict_of(const Decision& decision, const DecisionRules& rules) {
    if (!decision.is_known)
        return Verdict::undecided;
    if (decision.low > 0 && decision.gain >= rules.worth)
        return Verdict::better;
    if (decision.high < 0 && decision.gain <= -rules.worth)
        return Verdict::worse;
    return decision.high < rules.worth ? Verdict::too_small : Verdict::undecided;
}

} // namespace

double chance_to_show(std::span<const double> base_s, std::span<const double> cure_s, const DecisionRules& rules) {
    const size_t pairs = base_s.size(), all = rules.most_pairs;
    if (pairs < kLeastForChance)
        return 1;
    if (all <= pairs)
        return 0;
    const Scatter scatter = scatter_of(base_s, cure_s);
    const auto n = static_cast<double>(pairs), most = static_cast<double>(all);
    const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), tail_of_last(all)));
    const double wanted =
        std::min(std::log(1 - rules.worth), -z * scatter.deviation / std::sqrt(most)); // the mean of all, at most
    const double spread = scatter.deviation * std::sqrt((most - n) / (n * most));      // of that mean around what is known
    if (spread <= 0)
        return scatter.middle <= wanted ? 1 : 0;
    return cdf((wanted - scatter.middle) / spread, pairs);
}

double chance_of_false(size_t cures, bool is_again) {
    const double of_one = is_again ? kAllTails * kAllTails : kAllTails;
    return std::min(1.0, of_one * static_cast<double>(cures)); // union bound: they share runs of the base
}

Decision decide(std::span<const double> base_s, std::span<const double> cure_s, const DecisionRules& rules, bool is_last) {
    Decision decision;
    decision.pairs = base_s.size();
    if (decision.pairs == 0)
        return decision;
    const Look& look = look_at(decision.pairs);
    is_last = is_last || decision.pairs >= rules.most_pairs;
    const double tail = is_last ? tail_of_last(decision.pairs) : look.tail;
    const statistics::Difference difference = statistics::paired_difference_of(base_s, cure_s, tail);
    decision.gain = 1 - difference.ratio;
    decision.low = 1 - difference.high;
    decision.high = 1 - difference.low;
    decision.is_known = difference.is_known && decision.pairs >= kLeastPairs;
    if (decision.pairs == look.pairs || is_last)
        decision.verdict = verdict_of(decision, rules);
    if (decision.verdict == Verdict::undecided && !is_last && rules.least_chance > 0 &&
        chance_to_show(base_s, cure_s, rules) < rules.least_chance)
        decision.verdict = Verdict::unlikely;
    return decision;
}

} // namespace plumb::trial
