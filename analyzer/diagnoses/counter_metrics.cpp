#include "diagnoses/counter_metrics.h"

#include "analyses/time/counter_ratio.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

namespace plumb {

namespace {

struct RatioMetric {
    const char *name, *numerator, *denominator, *unit;
    double factor; // from the ratio to the unit
    const char* how;
};

constexpr RatioMetric kRatios[] = {
    {"instructions per cycle", "instructions", "cycles", "count", 1, "instructions / cycles in user mode"},
    {"clock share", "cycles", "reference cycles", "fraction", 1,
     "cycles / cycles at the CPU's base clock, in user mode: below 1 the CPUs ran slower than that"},
    {"stalled share", "stalled cycles", "cycles", "fraction", 1,
     "cycles in which no instruction could go on for lack of data or units / cycles, in user mode"},
    {"memory stalled share", "memory stalls", "cycles", "fraction", 1,
     "cycles in which nothing was done until data came / cycles, in user mode"},
    {"data cache misses per thousand instructions", "data cache misses", "instructions", "count", 1000,
     "misses of the first data cache / instructions x 1000, in user mode"},
    {"last level misses per thousand instructions", "last level misses", "instructions", "count", 1000,
     "accesses that no cache held / instructions x 1000, in user mode"},
    {"data TLB misses per thousand instructions", "data TLB misses", "instructions", "count", 1000,
     "address translations that were not at hand / instructions x 1000, in user mode"},
    {"branch misses per thousand instructions", "branch misses", "instructions", "count", 1000,
     "mispredicted branches / instructions x 1000, in user mode"},
    {"remote loads per thousand instructions", "remote memory loads", "instructions", "count", 1000,
     "loads from memory of other NUMA nodes / instructions x 1000, in user mode"},
    {"double precision operations per cycle", "double precision operations", "cycles", "count", 1,
     "additions and multiplications of doubles, each element of a vector one / cycles, in user mode"},
};

// Counted all the time, by the kernel: exact over all threads, also those that ended between two looks of the recorder.
void add_kernel_rates(std::vector<Metric>& metrics, const model::Run& run) {
    for (const char* event : {"context switches", "CPU migrations", "page faults"}) {
        uint64_t count = 0, begin_ns = UINT64_MAX, end_ns = 0;
        for (const model::Host& host : run.hosts)
            for (const model::CounterSlice& slice : host.counters)
                if (slice.event == event) {
                    count += slice.count;
                    begin_ns = std::min(begin_ns, slice.begin_ns);
                    end_ns = std::max(end_ns, slice.end_ns);
                }
        if (end_ns > begin_ns)
            metrics.push_back({std::string("counted ") + event, static_cast<double>(count) * 1e9 / static_cast<double>(end_ns - begin_ns),
                               "per second", "counted by the kernel in all threads of the run, a second of wall time"});
    }
}

} // namespace

std::vector<Metric> counter_metrics_of(const model::Run& run) {
    std::vector<Metric> metrics;
    add_kernel_rates(metrics, run);
    for (const RatioMetric& metric : kRatios)
        if (const auto ratio = counter_ratio(run, metric.numerator, metric.denominator))
            metrics.push_back({metric.name, ratio->value * metric.factor, metric.unit,
                               fmt::format("{}; counted during {:.0f} % of the run", metric.how, 100 * ratio->time_share)});
    if (const auto scalar = counter_ratio(run, "scalar double precision operations", "double precision operations"))
        metrics.push_back({"packed share", 1 - std::min(1.0, scalar->value), "fraction",
                           fmt::format("of operations on doubles, those of packed instructions, in user mode; counted during "
                                       "{:.0f} % of the run", 100 * scalar->time_share)});
    return metrics;
}

} // namespace plumb
