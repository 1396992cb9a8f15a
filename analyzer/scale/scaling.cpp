#include "scale/scaling.h"

#include "analyses/lines/launch_command.h"
#include "scale/bandwidth_limit.h"
#include "scale/growth.h"
#include "scale/pairs.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace plumb::scale {

namespace {

statistics::Spread spread_of_runs(const ScalePoint& point, const std::function<double(const RunFacts&)>& figure) {
    std::vector<double> values;
    for (const RunFacts& run : point.facts)
        values.push_back(figure(run));
    return statistics::spread_of(values);
}

std::vector<ScalePoint> points_of(const SweepRuns& runs) {
    std::vector<ScalePoint> points;
    for (size_t index = 0; index < runs.sweep.points.size(); ++index) {
        ScalePoint point;
        point.at = runs.sweep.points[index];
        point.set = runs.sweep.commands[index].set;
        point.program = shell_line(runs.sweep.commands[index].words);
        for (size_t i = 0; i < runs.result.runs.size(); ++i)
            if (runs.result.runs[i].command == index) {
                point.runs.push_back(runs.result.runs[i]);
                point.facts.push_back(runs.facts[i]);
            }
        std::ranges::copy_if(runs.result.failed, std::back_inserter(point.failed),
                             [&](const repeat::SeriesRun& run) { return run.command == index; });
        if (!point.facts.empty()) {
            point.time_s = spread_of_runs(point, [](const RunFacts& run) { return run.time_s; });
            point.bandwidth = bandwidth_of(point);
            if (runs.sweep.axis == Axis::copies)
                point.slowest_s = spread_of_runs(point, [](const RunFacts& run) { return std::ranges::max(run.copies_s); });
        }
        points.push_back(std::move(point));
    }
    return points;
}

// Of one unit of work: of a program its time, of copies the time in which one of them is done.
double time_of_work(Axis axis, const ScalePoint& point) {
    return point.time_s->median / (axis == Axis::copies ? point.at.value : 1);
}

void compare_with_first(Axis axis, std::vector<ScalePoint>& points, size_t first) {
    for (ScalePoint& point : points)
        if (point.time_s) {
            point.to_first = time_between(points[first], point);
            if (&point == &points[first])
                point.to_first.low = point.to_first.high = 1;
            point.speed_up = (axis == Axis::copies ? point.at.value / points[first].at.value : 1) / point.to_first.ratio;
            point.efficiency = point.speed_up * parts_of(axis, points[first].at) / parts_of(axis, point.at);
        }
}

// The other point certainly takes less time for the same work.
bool is_beaten(Axis axis, const ScalePoint& point, const ScalePoint& other) {
    const statistics::Difference difference = work_between(axis, point, other);
    return difference.is_known && difference.high < 1;
}

// The first point that no other certainly beats, else that with the smallest median.
void choose_best(Scaling& scaling) {
    std::vector<size_t> measured, unbeaten;
    for (size_t i = 0; i < scaling.points.size(); ++i)
        if (scaling.points[i].time_s)
            measured.push_back(i);
    const auto time = [&](size_t i) { return time_of_work(scaling.axis, scaling.points[i]); };
    const size_t fastest = *std::ranges::min_element(measured, {}, time);
    scaling.best = fastest;
    scaling.best_is_known = std::ranges::all_of(
        measured, [&](size_t i) { return i == fastest || time_between(scaling.points[fastest], scaling.points[i]).is_known; });
    if (!scaling.best_is_known)
        return;
    for (const size_t i : measured)
        if (std::ranges::none_of(
                measured, [&](size_t j) { return j != i && is_beaten(scaling.axis, scaling.points[i], scaling.points[j]); }))
            unbeaten.push_back(i);
    if (unbeaten.empty())
        return;
    scaling.best = unbeaten.front();
    scaling.alike.assign(unbeaten.begin() + 1, unbeaten.end());
}

void fit_laws(Scaling& scaling) {
    std::vector<double> parts;
    std::vector<std::vector<double>> samples(scaling.asked);
    for (const ScalePoint& point : scaling.points) {
        parts.push_back(point.at.value);
        for (size_t round = 0; round < scaling.asked; ++round) {
            const auto run = std::ranges::find(point.runs, round, &repeat::SeriesRun::round);
            samples[round].push_back(
                run == point.runs.end()
                    ? std::numeric_limits<double>::quiet_NaN()
                    : cost_of(scaling.axis, point.at, point.facts[static_cast<size_t>(run - point.runs.begin())].time_s));
        }
    }
    if (scaling.axis == Axis::size)
        scaling.exponent = fit_growth(parts, samples);
    else
        scaling.fit = fit_curve(parts, samples);
}

} // namespace

double parts_of(Axis axis, const PointValue& point) { return axis == Axis::size ? 1 : point.value; }

double cost_of(Axis axis, const PointValue& point, double time_s) {
    return axis == Axis::threads || axis == Axis::ranks ? point.value * time_s : time_s;
}

statistics::Difference time_between(const ScalePoint& base, const ScalePoint& other) {
    return difference_between(figures_of_both(base, other, [](const RunFacts& run) { return std::max(run.time_s, 1e-9); }));
}

statistics::Difference work_between(Axis axis, const ScalePoint& base, const ScalePoint& other) {
    statistics::Difference difference = time_between(base, other);
    const double scale = axis == Axis::copies ? base.at.value / other.at.value : 1;
    difference.ratio *= scale;
    difference.low *= scale;
    difference.high *= scale;
    return difference;
}

Scaling scaling_of(const SweepRuns& runs, size_t cpus) {
    Scaling scaling;
    scaling.axis = runs.sweep.axis;
    scaling.is_by_environment = runs.sweep.is_by_environment;
    scaling.directory = runs.options.directory;
    scaling.asked = runs.options.rounds;
    scaling.stopped = runs.result.stopped;
    scaling.last_errors = runs.result.last_errors;
    scaling.cpus = cpus;
    scaling.points = points_of(runs);
    std::optional<size_t> last;
    for (size_t i = 0; i < scaling.points.size(); ++i)
        if (scaling.points[i].time_s) {
            scaling.first = scaling.first.value_or(i);
            last = i;
        }
    if (!scaling.first)
        return scaling;
    compare_with_first(scaling.axis, scaling.points, *scaling.first);
    if (scaling.axis != Axis::size) {
        choose_best(scaling);
        const auto limited = std::ranges::find_if(
            scaling.points, [](const ScalePoint& point) { return point.bandwidth && is_limit(*point.bandwidth); });
        if (limited != scaling.points.end())
            scaling.bandwidth_limit = static_cast<size_t>(limited - scaling.points.begin());
    }
    fit_laws(scaling);
    if (*last != *scaling.first) {
        // Each copy should take as long as one alone; of programs, where the last point is the best, the whole curve is what
        // there is.
        const bool from_best = scaling.axis != Axis::copies && scaling.best && *scaling.best != *last;
        scaling.growth = growth_between(scaling.points, from_best ? *scaling.best : *scaling.first, *last);
    }
    return scaling;
}

} // namespace plumb::scale
