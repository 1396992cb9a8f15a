#include "diagnoses/common/schedule.h"

#include "model/shared_machine.h"

#include <algorithm>
#include <cstdint>

namespace plumb {

namespace {

struct Grid {
    std::vector<uint64_t> edges; // ns, ascending; slot i is [edges[i], edges[i + 1])

    size_t slots() const { return edges.size() < 2 ? 0 : edges.size() - 1; }

    // Calls visit(slot, share) for every slot that [begin, end) touches; the shares add up to at most 1.
    template <typename Visit> void spread(uint64_t begin, uint64_t end, Visit visit) const {
        if (end <= begin || slots() == 0)
            return;
        const double length = static_cast<double>(end - begin);
        size_t slot = static_cast<size_t>(std::upper_bound(edges.begin(), edges.end(), begin) - edges.begin());
        for (slot = slot ? slot - 1 : 0; slot < slots() && edges[slot] < end; slot++) {
            const uint64_t from = std::max(begin, edges[slot]), to = std::min(end, edges[slot + 1]);
            if (to > from)
                visit(slot, static_cast<double>(to - from) / length);
        }
    }
};

Grid make_grid(const model::Host& host, uint64_t least_ns) {
    std::vector<uint64_t> all;
    for (const model::CpuInterval& interval : host.cpu_intervals) {
        all.push_back(interval.begin_ns);
        all.push_back(interval.end_ns);
    }
    std::sort(all.begin(), all.end());
    Grid grid;
    for (uint64_t edge : all)
        if (grid.edges.empty() || edge - grid.edges.back() >= least_ns)
            grid.edges.push_back(edge);
    if (!all.empty() && all.back() > grid.edges.back())
        grid.edges.push_back(all.back());
    return grid;
}

bool leaves_out(const model::CpuSet& mask, const model::CpuSet& allowed) {
    return !mask.empty() && !std::includes(mask.begin(), mask.end(), allowed.begin(), allowed.end());
}

// The slot a task writes to changes rarely, so its activity is the last one of the slot or a new one.
Activity& activity_in(Slot& slot, size_t task) {
    if (slot.activities.empty() || slot.activities.back().task != task) {
        slot.activities.emplace_back();
        slot.activities.back().task = task;
    }
    return slot.activities.back();
}

void add_thread(Schedule& schedule, const Grid& grid, const model::Thread& thread, size_t task) {
    for (const model::ThreadInterval& interval : thread.intervals)
        grid.spread(interval.begin_ns, interval.end_ns, [&](size_t slot, double share) {
            Activity& activity = activity_in(schedule.slots[slot], task);
            const double run_s = static_cast<double>(interval.run_ns) * 1e-9 * share;
            if (activity.cpu < 0 || run_s > activity.run_s)
                activity.cpu = interval.cpu;
            activity.run_s += run_s;
            activity.delay_s += static_cast<double>(interval.run_delay_ns) * 1e-9 * share;
        });
}

// Threads that began and ended between two looks have no interval and a recorder's clock is not the scheduler's:
// what does not add up is trimmed, so that everything later may rely on run + delay <= length.
void trim(Slot& slot) {
    for (Activity& activity : slot.activities) {
        activity.run_s = std::min(activity.run_s, slot.length_s);
        activity.delay_s = std::min(activity.delay_s, slot.length_s - activity.run_s);
    }
}

void add_cpus(Schedule& schedule, const Grid& grid, const model::Host& host, const model::CpuSet& allowed) {
    const auto index_of = [&](int cpu) {
        return static_cast<size_t>(std::lower_bound(allowed.begin(), allowed.end(), cpu) - allowed.begin());
    };
    for (Slot& slot : schedule.slots)
        for (int cpu : allowed)
            slot.cpus.push_back({cpu, slot.length_s, 0, 0});
    for (const model::CpuInterval& interval : host.cpu_intervals) {
        const size_t index = index_of(interval.cpu);
        if (index == allowed.size() || allowed[index] != interval.cpu)
            continue;
        grid.spread(interval.begin_ns, interval.end_ns, [&](size_t slot, double share) {
            CpuLoad& load = schedule.slots[slot].cpus[index];
            // Idle time as the kernel counted it, not what busy time leaves over: a recorder that itself had to
            // wait for a CPU reads the counters later than its clock says.
            const double length_s = static_cast<double>(interval.end_ns - interval.begin_ns) * 1e-9;
            const double idle_s = std::min(length_s, static_cast<double>(interval.idle_ns) * 1e-9);
            load.idle_s -= (length_s - idle_s) * share;
        });
    }
    for (Slot& slot : schedule.slots) {
        for (const Activity& activity : slot.activities) {
            const size_t index = index_of(activity.cpu);
            if (index < allowed.size() && allowed[index] == activity.cpu)
                slot.cpus[index].own_s += activity.run_s;
        }
        for (CpuLoad& load : slot.cpus) {
            // The scheduler's clock knows what the run used; ticks may say less.
            load.own_s = std::min(load.own_s, slot.length_s);
            load.idle_s = std::clamp(load.idle_s, 0.0, slot.length_s - load.own_s);
            load.others_s = slot.length_s - load.own_s - load.idle_s;
        }
    }
}

} // namespace

double Schedule::length_s() const {
    double sum = 0;
    for (const Slot& slot : slots)
        sum += slot.length_s;
    return sum;
}

Schedule schedule_of(const model::Run& run, const model::Host& host, double least_slot_s) {
    Schedule schedule;
    const Grid grid = make_grid(host, static_cast<uint64_t>(least_slot_s * 1e9));
    if (grid.slots() == 0 || host.allowed_cpus.empty())
        return schedule;
    for (size_t slot = 0; slot < grid.slots(); slot++) {
        schedule.slots.emplace_back();
        schedule.slots.back().length_s = static_cast<double>(grid.edges[slot + 1] - grid.edges[slot]) * 1e-9;
    }
    for (size_t process = 0; process < run.processes.size(); process++) {
        if (!model::runs_there(run, run.processes[process], host))
            continue;
        for (size_t thread = 0; thread < run.processes[process].threads.size(); thread++) {
            const model::Thread& source = run.processes[process].threads[thread];
            schedule.tasks.push_back({process, thread, leaves_out(source.allowed_cpus, host.allowed_cpus), 0, 0});
            add_thread(schedule, grid, source, schedule.tasks.size() - 1);
        }
    }
    bool watched = false;
    for (Slot& slot : schedule.slots) {
        trim(slot);
        for (const Activity& activity : slot.activities) {
            schedule.tasks[activity.task].run_s += activity.run_s;
            schedule.tasks[activity.task].delay_s += activity.delay_s;
            watched = true;
        }
    }
    if (!watched)
        return {};
    add_cpus(schedule, grid, host, host.allowed_cpus);
    return schedule;
}

std::vector<HostSchedule> schedules_of(const model::Run& run) {
    constexpr double kLeastRun_s = 0.5;
    std::vector<HostSchedule> schedules;
    for (const model::Host& host : run.hosts)
        if (!model::is_counted_before(run, host))
            if (Schedule schedule = schedule_of(run, host); schedule.length_s() >= kLeastRun_s)
                schedules.push_back({&host, std::move(schedule)});
    return schedules;
}

} // namespace plumb
