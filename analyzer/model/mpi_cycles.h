// How long the cycles of an MPI job take: a cycle goes from one collective in which all wait for one another to the next from
// the same call site. Of the sites that cover most of the time, or nearly as much, it is the one with most cycles. Bounded: at
// most 512 points of the series and 400 bins of the histogram.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

// Where the time of a cycle went on the way of the rank that the others waited for; seconds that add up.
struct MpiCycleParts {
    double work_s = 0;        // it computed what the median of the other ranks computed, too
    double imbalance_s = 0;   // it was busy outside MPI beyond that: more work, a slower CPU, or interruptions that the scheduler
                              // does not count
    double without_cpu_s = 0; // runnable without a CPU, outside MPI or in an operation for which all had arrived
    double blocked_s = 0;     // asleep outside MPI
    double waiting_s = 0;     // in MPI for messages that others sent or received late
    double mpi_s = 0;         // the rest in MPI: the operations themselves, transfer of messages
    double other_s = 0;       // not known which of these

    double sum_s() const { return work_s + imbalance_s + without_cpu_s + blocked_s + waiting_s + mpi_s + other_s; }
};

struct MpiCycles {
    // Of the call site: as in MpiCallSite. Empty `call`: no cycles are known.
    uint32_t process = 0, path = 0;
    std::string call;

    uint64_t count = 0;
    double mean_s = 0, least_s = 0, tenth_s = 0, median_s = 0, ninetieth_s = 0, most_s = 0;

    struct Point { // consecutive cycles
        uint64_t first = 0, cycles = 0; // number of the first one, from 0
        double begin_s = 0, end_s = 0;  // since the job began
        double least_s = 0, mean_s = 0, most_s = 0;
    };
    std::vector<Point> series; // all cycles, in order

    struct Bin {
        double from_s = 0, to_s = 0;
        uint64_t cycles = 0;
    };
    std::vector<Bin> histogram; // equal steps of the logarithm, from the first bin with cycles to the last

    // Cycles of one kind do the same as far as the record shows: the same collectives, the same place in a repeated pattern,
    // about the same moment where the program changes slowly. What makes kinds differ is the program's way; no cure of
    // disturbances gains it.
    uint32_t period = 1;      // cycles after which a pattern repeats; 1: none was found
    bool drifts = false;      // cycles change in the course of the run
    uint32_t kinds = 1;       // of collectives within a cycle
    double attainable_s = 0;  // mean, if each cycle took as long as the fastest tenth of its kind
    double usual_s = 0;       // mean, if each cycle took as long as the median of its kind
    MpiCycleParts mean;       // of all cycles
    MpiCycleParts loss;       // what the mean takes beyond attainable_s, by part; a part can be negative
    uint64_t slow = 0;        // cycles that took a fifth more than the median of their kind
    // Mean time between two looks at the scheduler's counters, over which waits are spread. Where it is longer than a cycle, it
    // is not known which cycles lost time without a CPU or blocked: all that is lost outside MPI is loss.other_s then. 0: there
    // were no looks.
    double look_s = 0;
    bool resolves_scheduler() const { return look_s <= mean_s; }
};

} // namespace plumb::model
