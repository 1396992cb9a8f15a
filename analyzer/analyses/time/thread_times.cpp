#include "analyses/time/thread_times.h"

#include "support/nanoseconds.h"

#include <algorithm>

namespace plumb {

namespace {

constexpr double kNearlyAllOfLife = 0.9; // of a thread's life: its switches tell of all of it

double life_between_s(const model::Thread& thread) {
    return thread.end_ns > thread.start_ns ? seconds(thread.end_ns - thread.start_ns) : 0;
}

} // namespace

bool has_exact_switches(const model::Thread& thread) {
    const model::ThreadSwitches& switches = thread.switches;
    const double seen_s = seconds(switches.on_ns + switches.blocked_ns + switches.preempted_ns);
    return switches.known() && !switches.stopped && seen_s >= kNearlyAllOfLife * life_between_s(thread);
}

ThreadTimes thread_times(const model::Thread& thread) {
    ThreadTimes times;
    double run_s = seconds(thread.run_ns);
    const double between_s = life_between_s(thread);
    const model::ThreadSwitches& switches = thread.switches;
    const bool exact = has_exact_switches(thread);
    if (exact)
        run_s = std::max(run_s, seconds(switches.on_ns));
    const double delay_s = std::max(seconds(thread.run_delay_ns), exact ? seconds(switches.preempted_ns) : 0.0);
    times.run_s = run_s;
    const double life_s = std::max(between_s, run_s); // clocks that are read one after another
    times.no_cpu_s = exact ? std::min(delay_s, life_s - run_s) : delay_s;
    times.blocked_s = std::max(0.0, life_s - times.run_s - times.no_cpu_s);
    return times;
}

uint64_t least_waits(const model::Thread& thread, double seconds_blocked) {
    const model::ThreadSwitches& switches = thread.switches;
    if (!switches.known())
        return 0;
    double left_s = seconds_blocked;
    uint64_t waits = 0;
    for (size_t bin = switches.blocked_counts.size(); bin-- > 0 && left_s > 0;) {
        const double bin_s = seconds(switches.blocked_times_ns[bin]);
        const uint64_t count = switches.blocked_counts[bin];
        if (count == 0)
            continue;
        waits += left_s >= bin_s ? count : std::max<uint64_t>(1, static_cast<uint64_t>(left_s / bin_s * static_cast<double>(count)));
        left_s -= bin_s;
    }
    return waits;
}

} // namespace plumb
