// What a sweep shows: the curve, its best point, the law that it follows, and what grows from the best point on.
#pragma once

#include "scale/fit.h"
#include "scale/run_facts.h"
#include "scale/sweep.h"
#include "statistics/difference.h"
#include "statistics/spread.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::scale {

struct ScalePoint {
    PointValue at;
    std::string set, program; // the folder of its runs; the command line
    std::vector<repeat::SeriesRun> runs, failed;
    std::vector<RunFacts> facts;                         // of runs
    std::optional<statistics::Spread> time_s, slowest_s; // of one run or copy; of the slowest copy. None: no run counts
    statistics::Difference to_first; // its time against that of the first point that has one
    std::optional<BandwidthSummary> bandwidth; // medians; none: no loops over large arrays
    double speed_up = 0;             // of the work done a second, against one part of the first point as many times: first 1
    double efficiency = 0;           // speed_up for each part
};

struct GrownAmount { // seconds, of the whole run or of one copy
    std::string name, place;  // place: where the most of a class is; else the name says it
    statistics::Shift seconds;
    bool grows = false;
    std::string finding, title; // id and title of what the report of the later point says about that place; empty: nothing
};

struct Growth {
    size_t from = 0, to = 0;    // points
    statistics::Shift thread_s; // all classes together
    std::vector<GrownAmount> classes, lines,
        libraries;                      // those that grow first, by how much; then the others by size of the change
    std::vector<NotedFinding> findings; // of the later point: in most of its runs, and in less than half as many of the earlier
    bool is_certain = false;    // that the time, the thread time or the CPU time as a whole grew
};

struct Scaling {
    Axis axis = Axis::threads;
    bool is_by_environment = false;
    std::string program; // as the user wrote it
    std::string directory;
    size_t asked = 0;                 // runs of each point
    std::string stopped, last_errors; // as in repeat::SeriesResult
    size_t cpus = 0;                  // that the runs may use
    std::vector<ScalePoint> points;   // by value

    // Of points, where any has a time; of a size none is the best.
    std::optional<size_t> first, best;
    std::vector<size_t> alike;  // other points that cannot be said to be slower than the best
    bool best_is_known = false; // there are enough runs to say which differences are chance
    std::optional<size_t> bandwidth_limit; // the first point at which memory bandwidth is the limit
    std::optional<CurveFit> fit;
    std::optional<ExponentFit> exponent; // of a size
    std::optional<Growth> growth;        // two points at least have a time
};

struct SweepRuns {
    Sweep sweep;
    repeat::SeriesOptions options;
    repeat::SeriesResult result;
    std::vector<RunFacts> facts; // of result.runs
};

Scaling scaling_of(const SweepRuns& runs, size_t cpus);

// Of what one point takes against another, run by run of the same round where there are enough such pairs.
statistics::Difference time_between(const ScalePoint& base, const ScalePoint& other);

// The same for the same work: of copies, each does as much.
statistics::Difference work_between(Axis axis, const ScalePoint& base, const ScalePoint& other);

// The parts that work: of a size, one.
double parts_of(Axis axis, const PointValue& point);

// N / X(N): see fit.h.
double cost_of(Axis axis, const PointValue& point, double time_s);

} // namespace plumb::scale
