#include "scale/growth.h"

#include "scale/pairs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace plumb::scale {

namespace {

using Amounts = std::map<std::string, double> RunFacts::*;

constexpr double kSmallestGrowth = 0.01; // of the thread time of the earlier point

double amount_in(const std::map<std::string, double>& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? 0 : found->second;
}

bool is_at(const Location& location, const std::string& place) {
    return place == place_of({location.function, location.file, location.line, location.module, false});
}

const RunFacts& middle_run(const ScalePoint& point) {
    std::vector<const RunFacts*> runs;
    for (const RunFacts& one : point.facts)
        runs.push_back(&one);
    std::ranges::sort(runs, {}, [](const RunFacts* one) { return one->time_s; });
    return *runs[runs.size() / 2];
}

// The finding with the largest gain at that place; the first line of a finding is where to look, before its others.
const NotedFinding* finding_at(const std::vector<NotedFinding>& findings, const std::string& place) {
    for (const bool first_only : {true, false})
        for (const NotedFinding& finding : findings)
            for (const Location& location : finding.where) {
                if (is_at(location, place))
                    return &finding;
                if (first_only)
                    break;
            }
    return nullptr;
}

class Grown {
  public:
    Grown(const ScalePoint& from, const ScalePoint& to) : from_(from), to_(to), later_(middle_run(to)) {}

    statistics::Shift shift(const std::function<double(const RunFacts&)>& figure) const {
        return shift_between(figures_of_both(from_, to_, figure));
    }

    std::vector<GrownAmount> amounts(Amounts amounts, bool is_certain, double least_s) const {
        std::set<std::string> names;
        for (const ScalePoint* const point : {&from_, &to_})
            for (const RunFacts& run : point->facts)
                for (const auto& [name, amount] : run.*amounts)
                    names.insert(name);
        std::vector<GrownAmount> grown;
        for (const std::string& name : names) {
            GrownAmount one;
            one.name = name;
            one.seconds = shift([&](const RunFacts& run) { return amount_in(run.*amounts, name); });
            one.grows = is_certain && one.seconds.is_one() && one.seconds.more >= least_s;
            if (const auto place = later_.class_places.find(name);
                amounts == &RunFacts::classes_s && place != later_.class_places.end())
                one.place = place->second;
            if (const NotedFinding* const finding = finding_at(later_.findings, one.place.empty() ? name : one.place)) {
                one.finding = finding->id;
                one.title = finding->title;
            }
            grown.push_back(std::move(one));
        }
        std::ranges::stable_sort(grown, std::greater{},
                                 [](const GrownAmount& one) { return std::pair(one.grows, std::fabs(one.seconds.more)); });
        return grown;
    }

    // By id and first line: numbers in titles differ from run to run.
    std::vector<NotedFinding> new_findings() const {
        std::vector<NotedFinding> found;
        for (const NotedFinding& finding : later_.findings)
            if (2 * runs_with(to_, finding) > to_.facts.size() && 2 * runs_with(from_, finding) < from_.facts.size())
                found.push_back(finding);
        return found;
    }

  private:
    static size_t runs_with(const ScalePoint& point, const NotedFinding& wanted) {
        return static_cast<size_t>(std::ranges::count_if(point.facts, [&](const RunFacts& run) {
            return std::ranges::any_of(run.findings, [&](const NotedFinding& one) {
                return one.id == wanted.id && one.where.empty() == wanted.where.empty() &&
                       (one.where.empty() || one.where.front().function == wanted.where.front().function);
            });
        }));
    }

    const ScalePoint& from_;
    const ScalePoint& to_;
    const RunFacts& later_;
};

} // namespace

Growth growth_between(const std::vector<ScalePoint>& points, size_t from, size_t to) {
    const Grown grown(points[from], points[to]);
    Growth growth;
    growth.from = from;
    growth.to = to;
    growth.thread_s = grown.shift([](const RunFacts& run) { return run.thread_s; });
    const auto grows = [](const statistics::Shift& shift) { return shift.is_one() && shift.more > 0; };
    growth.is_certain = grows(growth.thread_s) || grows(grown.shift([](const RunFacts& run) { return run.cpu_s; })) ||
                        grows(grown.shift([](const RunFacts& run) { return run.time_s; }));
    const double least_s = kSmallestGrowth * growth.thread_s.base_median;
    growth.classes = grown.amounts(&RunFacts::classes_s, growth.is_certain, least_s);
    growth.lines = grown.amounts(&RunFacts::lines_s, growth.is_certain, least_s);
    growth.libraries = grown.amounts(&RunFacts::libraries_s, growth.is_certain, least_s);
    growth.findings = grown.new_findings();
    return growth;
}

} // namespace plumb::scale
