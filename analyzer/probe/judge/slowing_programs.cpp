#include "probe/judge/slowing_programs.h"

#include "statistics/difference.h"
#include "statistics/rank_correlation.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace plumb::probe {

namespace {

constexpr double kFalseSeries = 0.05;

using Amounts = std::map<std::string, double> Look::*;

double amount_in(const Look& look, Amounts amounts, const std::string& name) {
    const auto found = (look.*amounts).find(name);
    return found == (look.*amounts).end() ? 0 : found->second;
}

std::vector<double> series_of(const std::vector<Look>& looks, Amounts amounts, const std::string& name) {
    std::vector<double> series;
    for (const Look& look : looks)
        series.push_back(amount_in(look, amounts, name));
    return series;
}

std::set<std::string> names_in(const std::vector<Look>& looks, Amounts amounts, double least) {
    std::set<std::string> names;
    for (const Look& look : looks)
        for (const auto& [name, amount] : look.*amounts)
            if (amount >= least)
                names.insert(name);
    return names;
}

// What it did in the looks with more of its CPU time than the median, and how slow the machine was then.
void measure_effect(Suspect& suspect, const std::vector<double>& busy, const std::vector<double>& slowness) {
    const double middle = statistics::median_of(busy);
    std::vector<double> cpus, slow, other;
    for (size_t i = 0; i < busy.size(); ++i)
        if (busy[i] > middle) {
            cpus.push_back(busy[i]);
            slow.push_back(slowness[i]);
        } else {
            other.push_back(slowness[i]);
        }
    if (cpus.empty())
        return;
    suspect.cpus = statistics::median_of(cpus);
    if (!other.empty() && statistics::median_of(other) > 0)
        suspect.slowdown = statistics::median_of(slow) / statistics::median_of(other);
}

} // namespace

Suspects slowing_programs(const std::vector<Look>& looks) {
    Suspects result;
    result.looks = looks.size();
    const std::set<std::string> kinds = names_in(looks, &Look::slowness, 0);
    for (const Amounts amounts : {&Look::programs, &Look::groups})
        for (const std::string& name : names_in(looks, amounts, kLeastCpus)) {
            const std::vector<double> busy = series_of(looks, amounts, name);
            Suspect suspect{.name = name, .is_group = amounts == &Look::groups, .kind = {}};
            for (const std::string& kind : kinds) {
                const std::vector<double> slowness = series_of(looks, &Look::slowness, kind);
                ++result.comparisons;
                const double correlation = statistics::rank_correlation(busy, slowness);
                const double chance = statistics::chance_of(correlation, statistics::independent_pairs(busy, slowness));
                if (!suspect.kind.empty() &&
                    std::tuple(chance, -correlation) >= std::tuple(suspect.chance, -suspect.correlation))
                    continue;
                suspect.kind = kind;
                suspect.correlation = correlation;
                suspect.chance = chance;
                measure_effect(suspect, busy, slowness);
            }
            result.suspects.push_back(std::move(suspect));
        }
    result.needed_chance = kFalseSeries / static_cast<double>(std::max<size_t>(result.comparisons, 1));
    for (Suspect& suspect : result.suspects)
        if (suspect.chance < result.needed_chance && suspect.slowdown > 1)
            suspect.verdict = Suspect::Verdict::slows;
    std::ranges::stable_sort(result.suspects, {}, [](const Suspect& suspect) {
        return std::tuple(suspect.verdict, suspect.chance, -suspect.correlation);
    });
    return result;
}

} // namespace plumb::probe
