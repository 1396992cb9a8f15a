#include "scale/scaling.h"

#include "analyses/lines/launch_command.h"
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
            point.speed_up = (axis == Axis::copies ? point.at.value / points[first].at.value : 1) / point.to_first.ratio;
            point.efficiency = point.speed_up * parts_of(axis, points[first].at) / parts_of(axis, point.at);
        }
}

// The ratio of the times of work that makes two points alike.
bool is_as_good(Axis axis, const ScalePoint& best, const ScalePoint& other) {
    statistics::Difference difference = time_between(best, other);
    const double scale = axis == Axis::copies ? best.at.value / other.at.value : 1;
    difference.low *= scale;
    difference.high *= scale;
    return !difference.is_one();
}

// The point with the smallest median, or the first one that cannot be said to be slower.
void choose_best(Scaling& scaling) {
    std::optional<size_t> fastest;
    for (size_t i = 0; i < scaling.points.size(); ++i)
        if (scaling.points[i].time_s &&
            (!fastest || time_of_work(scaling.axis, scaling.points[i]) < time_of_work(scaling.axis, scaling.points[*fastest])))
            fastest = i;
    scaling.best = fastest;
    scaling.best_is_known = true;
    std::vector<size_t> alike;
    for (size_t i = 0; i < scaling.points.size(); ++i) {
        if (!scaling.points[i].time_s)
            continue;
        if (i != *fastest && !time_between(scaling.points[*fastest], scaling.points[i]).is_known)
            scaling.best_is_known = false;
        if (i == *fastest || is_as_good(scaling.axis, scaling.points[*fastest], scaling.points[i]))
            alike.push_back(i);
    }
    if (!scaling.best_is_known)
        return;
    scaling.best = alike.front();
    scaling.alike.assign(alike.begin() + 1, alike.end());
}

void fit_laws(Scaling& scaling) {
    std::vector<double> parts;
    std::vector<std::vector<double>> samples(scaling.asked);
    for (const ScalePoint& point : scaling.points) {
        parts.push_back(point.at.value);
        for (size_t round = 0; round < scaling.asked; ++round) {
            const auto run = std::ranges::find(point.runs, round, &repeat::SeriesRun::round);
            samples[round].push_back(run == point.runs.end() ? std::numeric_limits<double>::quiet_NaN()
                                                             : cost_of(scaling.axis, point.at,
                                                                       point.facts[static_cast<size_t>(run - point.runs.begin())].time_s));
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
    if (scaling.axis != Axis::size)
        choose_best(scaling);
    fit_laws(scaling);
    if (*last != *scaling.first) {
        // Each copy should take as long as one alone; of programs, where the last point is the best, the whole curve is what there is.
        const bool from_best = scaling.axis != Axis::copies && scaling.best && *scaling.best != *last;
        scaling.growth = growth_between(scaling.points, from_best ? *scaling.best : *scaling.first, *last);
    }
    return scaling;
}

} // namespace plumb::scale
