// Who wanted which CPU when: the intervals of threads and CPUs of one host on one common grid of time slots. Threads of other hosts that
// are the same machine (containers) belong to it.
#pragma once

#include "model/run.h"

#include <cstddef>
#include <vector>

namespace plumb {

struct Task { // a thread of the run
    size_t process = 0, thread = 0; // indexes into Run::processes and Process::threads
    bool narrowed = false;          // its mask leaves out CPUs that the run may use
    double run_s = 0, delay_s = 0;  // over all slots
};

// What one task did in one slot. It was on a CPU for run_s, runnable and waiting for one for delay_s, asleep for
// the rest.
struct Activity {
    size_t task = 0; // index into Schedule::tasks
    int cpu = -1;    // last one it ran on
    double run_s = 0, delay_s = 0;
    double active_s() const { return run_s + delay_s; }
};

// Seconds of one slot on one CPU that the run may use. idle + own + others = length of the slot.
struct CpuLoad {
    int cpu = -1;
    double idle_s = 0;
    double own_s = 0;    // threads of the run
    double others_s = 0; // everybody else: other programs, interrupts, the hypervisor's share
};

struct Slot {
    double length_s = 0;
    std::vector<CpuLoad> cpus; // by CPU number
    std::vector<Activity> activities;
};

struct Schedule {
    std::vector<Task> tasks;
    std::vector<Slot> slots; // by time
    double length_s() const;
};

// Slots are at least `least_slot_s` long (the last one may be shorter): CPU times come in clock ticks of 10 ms, so
// short slots would be noise. Empty when the host's CPUs or the run's threads were not watched over time. An
// allowed CPU without a record in a slot did nothing there.
Schedule schedule_of(const model::Run& run, const model::Host& host, double least_slot_s = 0.2);

struct HostSchedule {
    const model::Host* host;
    Schedule schedule;
};

// Those of all machines that were watched for long enough to judge who shares a CPU with whom: shorter runs are start-up.
std::vector<HostSchedule> schedules_of(const model::Run& run);

} // namespace plumb
