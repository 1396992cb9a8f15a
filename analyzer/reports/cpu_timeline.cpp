#include "reports/cpu_timeline.h"
#include "reports/words/run_summary.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace plumb {

namespace {

double seconds_between(uint64_t from_ns, uint64_t to_ns) {
    return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

double fraction(uint64_t part_ns, double seconds) {
    return seconds > 0 ? std::min(1.0, static_cast<double>(part_ns) * 1e-9 / seconds) : 0;
}

struct ThreadRef {
    size_t process;
    const model::Thread* thread;
};

// Indices of the `limit` largest by each measure in turn, in their original order.
template <typename T, typename... Measures>
std::vector<size_t> keep_outliers(const std::vector<T>& items, size_t limit, Measures... measures) {
    std::vector<size_t> all(items.size());
    std::iota(all.begin(), all.end(), 0);
    if (all.size() <= limit)
        return all;
    std::vector<size_t> kept;
    const auto take_best = [&](auto measure) {
        std::stable_sort(all.begin(), all.end(), [&](size_t left, size_t right) {
            return measure(items[left]) > measure(items[right]);
        });
        for (size_t rank = 0; rank < std::max<size_t>(1, limit / sizeof...(Measures)); rank++)
            if (kept.size() < limit && std::find(kept.begin(), kept.end(), all[rank]) == kept.end())
                kept.push_back(all[rank]);
    };
    (take_best(measures), ...);
    std::sort(kept.begin(), kept.end());
    return kept;
}

// The span of intervals [first, last): on the CPU with most run time among them.
LaneSpan joined(const std::vector<model::ThreadInterval>& intervals, size_t first, size_t last,
                uint64_t origin_ns) {
    std::map<int, uint64_t> run_by_cpu;
    uint64_t run_ns = 0, delay_ns = 0;
    double covered = 0;
    LaneSpan span;
    for (size_t index = first; index < last; index++) {
        const model::ThreadInterval& interval = intervals[index];
        run_by_cpu[interval.cpu] += interval.run_ns + 1;
        run_ns += interval.run_ns;
        delay_ns += interval.run_delay_ns;
        span.migrations += interval.migrations;
        covered += seconds_between(interval.begin_ns, interval.end_ns);
    }
    span.begin = seconds_between(origin_ns, intervals[first].begin_ns);
    span.end = seconds_between(origin_ns, intervals[last - 1].end_ns);
    span.cpu =
        std::max_element(run_by_cpu.begin(), run_by_cpu.end(), [](const auto& left, const auto& right) {
            return left.second < right.second;
        })->first;
    span.running = fraction(run_ns, covered);
    span.waiting = fraction(delay_ns, covered);
    return span;
}

Lane lane_of(const ThreadRef& ref, const std::string& process, uint64_t origin_ns, size_t span_limit) {
    Lane lane;
    lane.process = process;
    lane.thread =
        fmt::format("{} ({})", ref.thread->name.empty() ? "thread" : ref.thread->name, ref.thread->tid);
    const std::vector<model::ThreadInterval>& intervals = ref.thread->intervals;
    const size_t group = (intervals.size() + span_limit - 1) / std::max<size_t>(1, span_limit);
    for (size_t first = 0; first < intervals.size(); first += std::max<size_t>(1, group))
        lane.spans.push_back(joined(
            intervals, first, std::min(intervals.size(), first + std::max<size_t>(1, group)), origin_ns));
    return lane;
}

void add_lanes(CpuTimeline& timeline, const model::Run& run, const CpuTimelineLimits& limits) {
    std::vector<ThreadRef> threads;
    for (size_t process = 0; process < run.processes.size(); process++)
        for (const model::Thread& thread : run.processes[process].threads)
            if (!thread.intervals.empty())
                threads.push_back({process, &thread});
    std::vector<size_t> kept = keep_outliers(
        threads, limits.lanes, [](const ThreadRef& ref) { return ref.thread->run_ns; },
        [](const ThreadRef& ref) { return ref.thread->run_delay_ns; },
        [](const ThreadRef& ref) { return ref.thread->migrations; });
    std::stable_sort(kept.begin(), kept.end(), [&](size_t left, size_t right) {
        const ThreadRef &one = threads[left], &other = threads[right];
        return one.process != other.process ? one.process < other.process
                                            : one.thread->start_ns < other.thread->start_ns;
    });
    timeline.lanes_left_out = threads.size() - kept.size();
    const std::vector<std::string> labels = process_labels(run);
    const size_t per_lane = std::max<size_t>(8, limits.lane_spans / std::max<size_t>(1, kept.size()));
    for (size_t index : kept)
        timeline.lanes.push_back(
            lane_of(threads[index], labels[threads[index].process], run.begin_ns, per_lane));
}

struct CpuRef {
    const model::Host* host;
    int cpu;
    std::vector<const model::CpuInterval*> intervals;
    uint64_t busy_ns = 0, other_ns = 0;
};

std::vector<CpuRef> cpus_of(const model::Run& run) {
    std::vector<CpuRef> cpus;
    for (const model::Host& host : run.hosts) {
        std::map<int, CpuRef> by_cpu;
        for (const model::CpuInterval& interval : host.cpu_intervals) {
            CpuRef& cpu = by_cpu[interval.cpu];
            cpu.host = &host;
            cpu.cpu = interval.cpu;
            cpu.intervals.push_back(&interval);
            const uint64_t busy_ns = interval.user_ns + interval.system_ns + interval.interrupt_ns;
            cpu.busy_ns += busy_ns;
            cpu.other_ns += busy_ns - std::min(busy_ns, interval.run_own_ns) + interval.steal_ns;
        }
        for (auto& [number, cpu] : by_cpu)
            cpus.push_back(std::move(cpu));
    }
    return cpus;
}

CpuSpan joined(const CpuRef& cpu, size_t first, size_t last, uint64_t origin_ns) {
    uint64_t own_ns = 0, other_ns = 0, interrupt_ns = 0, steal_ns = 0;
    double covered = 0;
    for (size_t index = first; index < last; index++) {
        const model::CpuInterval& interval = *cpu.intervals[index];
        const uint64_t busy_ns = interval.user_ns + interval.system_ns;
        own_ns += interval.run_own_ns;
        other_ns += busy_ns - std::min(busy_ns, interval.run_own_ns);
        interrupt_ns += interval.interrupt_ns;
        steal_ns += interval.steal_ns;
        covered += seconds_between(interval.begin_ns, interval.end_ns);
    }
    return {seconds_between(origin_ns, cpu.intervals[first]->begin_ns),
            seconds_between(origin_ns, cpu.intervals[last - 1]->end_ns),
            fraction(own_ns, covered),
            fraction(other_ns, covered),
            fraction(interrupt_ns, covered),
            fraction(steal_ns, covered)};
}

void add_cpus(CpuTimeline& timeline, const model::Run& run, const CpuTimelineLimits& limits) {
    const std::vector<CpuRef> cpus = cpus_of(run);
    const std::vector<size_t> kept = keep_outliers(
        cpus, limits.cpus, [](const CpuRef& cpu) { return cpu.busy_ns; },
        [](const CpuRef& cpu) { return cpu.other_ns; });
    timeline.cpus_left_out = cpus.size() - kept.size();
    const size_t per_cpu = std::max<size_t>(8, limits.cpu_spans / std::max<size_t>(1, kept.size()));
    for (size_t index : kept) {
        const CpuRef& cpu = cpus[index];
        CpuRow row{run.hosts.size() > 1 ? cpu.host->name : "", cpu.cpu, cpu.intervals.back()->allowed, {}};
        const size_t group = std::max<size_t>(1, (cpu.intervals.size() + per_cpu - 1) / per_cpu);
        for (size_t first = 0; first < cpu.intervals.size(); first += group)
            row.spans.push_back(
                joined(cpu, first, std::min(cpu.intervals.size(), first + group), run.begin_ns));
        timeline.cpus.push_back(std::move(row));
    }
}

} // namespace

CpuTimeline build_cpu_timeline(const model::Run& run, const CpuTimelineLimits& limits) {
    CpuTimeline timeline;
    timeline.seconds = static_cast<double>(run.wall_ns()) * 1e-9;
    add_lanes(timeline, run, limits);
    add_cpus(timeline, run, limits);
    return timeline;
}

} // namespace plumb
