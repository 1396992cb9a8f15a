#include "compare/comparison.h"

#include "compare/compared_sites.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace plumb {

namespace {

using Runs = std::vector<RunFigures>;
using Values = std::vector<double>;
using Amounts = std::map<std::string, double> RunFigures::*;

template <class Value> Values each(const Runs& runs, Value value) {
    Values values;
    for (const RunFigures& run : runs)
        values.push_back(value(run));
    return values;
}

statistics::Difference difference_between(const Values& base, const Values& other, Pairing pairing) {
    return pairing == Pairing::in_turns ? statistics::paired_difference_of(base, other) : statistics::difference_of(base, other);
}

double amount_of(const std::map<std::string, double>& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? 0 : found->second;
}

ComparedFigure seconds_of(const char* name, const Runs& base, const Runs& other, Pairing pairing, double RunFigures::*figure) {
    const auto value = [figure](const RunFigures& run) { return std::max(run.*figure, 1e-9); };
    return {name, "seconds", difference_between(each(base, value), each(other, value), pairing)};
}

std::set<std::string> names_of(const Runs& base, const Runs& other, Amounts amounts) {
    std::set<std::string> names;
    for (const Runs* runs : {&base, &other})
        for (const RunFigures& run : *runs)
            for (const auto& [name, value] : run.*amounts)
                names.insert(name);
    return names;
}

std::vector<ComparedFigure> metrics_of(const Runs& base, const Runs& other, Pairing pairing) {
    std::vector<ComparedFigure> figures;
    for (const std::string& name : names_of(base, other, &RunFigures::metrics)) {
        const auto value = [&](const RunFigures& run) { return amount_of(run.metrics, name); };
        const Values base_values = each(base, value), other_values = each(other, value);
        const auto is_amount = [](double one) { return one > 0; };
        if (!std::ranges::all_of(base_values, is_amount) || !std::ranges::all_of(other_values, is_amount))
            continue;
        figures.push_back({name, base.front().units.at(name), difference_between(base_values, other_values, pairing)});
    }
    std::ranges::stable_sort(figures, std::greater{}, [](const ComparedFigure& one) {
        return std::pair(one.has_changed(), std::fabs(std::log(one.difference.ratio)));
    });
    return figures;
}

void sort_by_change(std::vector<ComparedAmount>& amounts) {
    std::ranges::stable_sort(amounts, std::greater{}, [](const ComparedAmount& one) {
        return std::pair(one.has_changed, std::fabs(one.seconds.more));
    });
}

std::vector<ComparedAmount> amounts_of(const Runs& base, const Runs& other, Pairing pairing, Amounts amounts, bool whole_changed) {
    std::vector<ComparedAmount> result;
    for (const std::string& name : names_of(base, other, amounts)) {
        const auto value = [&](const RunFigures& run) { return amount_of(run.*amounts, name); };
        const statistics::Shift more = shift_between(each(base, value), each(other, value), pairing);
        result.push_back({name, more, whole_changed && more.is_one()});
    }
    sort_by_change(result);
    return result;
}

const ComparedFinding* find_in(const RunFigures& run, const std::string& key) {
    const auto found = run.findings.find(key);
    return found == run.findings.end() ? nullptr : &found->second;
}

// In most runs of the one set and none of the other; a finding that comes and goes is neither.
FindingChange::Kind kind_of(const FindingChange& change, const Comparison& comparison) {
    using Kind = FindingChange::Kind;
    if (change.other_runs == 0 && 2 * change.base_runs > comparison.base_runs)
        return Kind::gone;
    if (change.base_runs == 0 && 2 * change.other_runs > comparison.other_runs)
        return Kind::added;
    if (!change.gain.is_one())
        return Kind::same;
    return change.gain.more > 0 ? Kind::larger : Kind::smaller;
}

std::vector<FindingChange> findings_of_both(const Runs& base, const Runs& other, const Comparison& comparison) {
    std::set<std::string> keys;
    for (const Runs* runs : {&base, &other})
        for (const RunFigures& run : *runs)
            for (const auto& [key, finding] : run.findings)
                keys.insert(key);
    std::vector<FindingChange> changes;
    for (const std::string& key : keys) {
        FindingChange change;
        change.key = key;
        const auto count = [&](const Runs& runs) {
            size_t with = 0;
            for (const RunFigures& run : runs)
                if (const ComparedFinding* const one = find_in(run, key)) {
                    change.title = one->title;
                    with++;
                }
            return with;
        };
        change.base_runs = count(base);
        change.other_runs = count(other);
        const auto gain = [&](const RunFigures& run) {
            const ComparedFinding* const one = find_in(run, key);
            return one ? one->gain : 0;
        };
        change.gain = shift_between(each(base, gain), each(other, gain), comparison.is_paired ? Pairing::in_turns : Pairing::none);
        change.kind = kind_of(change, comparison);
        changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(changes, [](const FindingChange& a, const FindingChange& b) {
        const auto rank = [](const FindingChange& one) {
            return one.kind == FindingChange::Kind::same                                                           ? 2
                   : one.kind == FindingChange::Kind::smaller || one.kind == FindingChange::Kind::larger ? 1
                                                                                                          : 0;
        };
        return std::pair(rank(a), -std::fabs(a.gain.more)) < std::pair(rank(b), -std::fabs(b.gain.more));
    });
    return changes;
}

} // namespace

Comparison compare_runs(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other, Pairing pairing) {
    Comparison comparison;
    for (const Runs* runs : {&base, &other})
        for (const RunFigures& run : *runs)
            if (std::ranges::find(comparison.programs, run.program) == comparison.programs.end())
                comparison.programs.push_back(run.program);
    comparison.base_runs = base.size();
    comparison.other_runs = other.size();
    comparison.is_paired = pairing == Pairing::in_turns;
    comparison.wall = seconds_of("wall", base, other, pairing, &RunFigures::wall_s);
    comparison.cpu = seconds_of("cpu", base, other, pairing, &RunFigures::cpu_s);
    const bool has_changed = comparison.wall.has_changed() || comparison.cpu.has_changed();
    comparison.metrics = metrics_of(base, other, pairing);
    const PlaceMatch match(base, other);
    comparison.lines = compared_lines(base, other, pairing, match, has_changed);
    sort_by_change(comparison.lines);
    comparison.line_notes = match.notes();
    comparison.allocations = compared_allocations(base, other, pairing, match);
    const auto is_exact = [](const RunFigures& run) { return run.allocations_are_exact; };
    comparison.allocations_are_exact = std::ranges::all_of(base, is_exact) && std::ranges::all_of(other, is_exact);
    comparison.mpi_sites = compared_mpi_sites(base, other, pairing, match, has_changed);
    comparison.functions = amounts_of(base, other, pairing, &RunFigures::functions_s, has_changed);
    comparison.libraries = amounts_of(base, other, pairing, &RunFigures::libraries_s, has_changed);
    comparison.call_tree = merged_tree(base, other, pairing, has_changed);
    comparison.findings = findings_of_both(base, other, comparison);
    return comparison;
}

} // namespace plumb
