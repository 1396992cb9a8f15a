#include "diagnoses/heap/contention_replay.h"

#include "diagnoses/common/schedule.h"

#include <algorithm>
#include <map>
#include <sys/syscall.h>
#include <vector>

namespace plumb {

namespace {

// What stays of a thread, as parts of its time.
struct Remainder {
    double running = 1;  // of the time on a CPU
    double sleeping = 0; // of the time asleep
};

// What a thread sleeps for is another thread of the process in a futex, or the address space that they share; else something
// outside, that takes as long whatever the allocator does.
bool is_for_the_world(int system_call) {
    for (int call : {SYS_futex, SYS_mmap, SYS_munmap, SYS_brk, SYS_mprotect, SYS_madvise, SYS_mremap, SYS_sched_yield})
        if (system_call == call)
            return false;
    return true;
}

// Of the time in user mode that each process spent in allocator calls: the part beyond that of uncontended ones.
std::map<size_t, double> contended_parts(const model::Run& run, const HeapProfile& profile) {
    std::map<size_t, double> user_hits, parts;
    for (const auto& [thread, time] : profile.time_by_thread)
        user_hits[thread.first] += static_cast<double>(time.user_hits);
    for (const auto& [process, hits] : user_hits) {
        const auto seconds = profile.seconds_by_process.find(process);
        double all_hits = 0;
        for (const auto& [thread, time] : profile.time_by_thread)
            all_hits += thread.first == process ? static_cast<double>(time.user_hits + time.other_hits + time.lock_hits) : 0;
        if (seconds == profile.seconds_by_process.end() || hits <= 0 || all_hits <= 0)
            continue;
        const model::Heap& heap = run.processes[process].heap;
        const auto calls = static_cast<double>(heap.allocations + heap.frees + heap.reallocations);
        const double user_s = seconds->second * hits / all_hits;
        if (heap.recorded && calls > 0)
            parts[process] = std::max(0.0, 1 - calls * kUncontendedCall_s / user_s);
    }
    return parts;
}

std::vector<Remainder> remainders(const model::Run& run, const HeapProfile& profile, const Schedule& schedule) {
    const std::map<size_t, double> contended = contended_parts(run, profile);
    std::vector<Remainder> all;
    for (const Task& task : schedule.tasks) {
        Remainder remainder;
        if (const auto time = profile.time_by_thread.find({task.process, static_cast<uint32_t>(task.thread)});
            time != profile.time_by_thread.end()) {
            const auto part = contended.find(task.process);
            const double gone = static_cast<double>(time->second.lock_hits + time->second.yield_hits + time->second.shim_samples) +
                                (part == contended.end() ? 0 : part->second * static_cast<double>(time->second.user_hits));
            const auto samples = static_cast<double>(time->second.samples + time->second.shim_samples);
            remainder.running = samples > 0 ? std::max(0.0, 1 - gone / samples) : 1;
        }
        double world_ns = 0, all_ns = 0;
        for (const model::BlockedSite& site : run.processes[task.process].blocked)
            if (site.thread == task.thread) {
                const auto time_ns = static_cast<double>(site.time_ns);
                all_ns += time_ns;
                world_ns += is_for_the_world(site.system_call) ? time_ns : 0;
            }
        remainder.sleeping = all_ns > 0 ? world_ns / all_ns : 0;
        all.push_back(remainder);
    }
    return all;
}

double replayed_s(const Schedule& schedule, const std::vector<Remainder>& remainders) {
    double sum_s = 0;
    for (const Slot& slot : schedule.slots) {
        double active_s = 0, kept_s = 0, longest_s = 0;
        for (const Activity& activity : slot.activities) {
            const Remainder& remainder = remainders[activity.task];
            const double running_s = activity.run_s * remainder.running;
            const double asleep_s = (slot.length_s - activity.active_s()) * remainder.sleeping;
            active_s += activity.active_s();
            kept_s += running_s;
            longest_s = std::max(longest_s, running_s + asleep_s);
        }
        // Nobody was active in this part at least: it waits for the world.
        const double idle_s = std::max(0.0, slot.length_s - active_s);
        const double cpus = static_cast<double>(std::max<size_t>(1, slot.cpus.size()));
        sum_s += std::min(slot.length_s, std::max(longest_s, idle_s + kept_s / cpus));
    }
    return sum_s;
}

} // namespace

std::optional<double> contention_part(const model::Run& run, const HeapProfile& profile, double shim_part) {
    std::optional<double> part;
    for (const auto& [host, schedule] : schedules_of(run)) {
        const std::vector<Remainder> left = remainders(run, profile, schedule);
        const double bare_s = schedule.length_s() * (1 - shim_part);
        const double host_part = bare_s > 0 ? std::clamp(1 - replayed_s(schedule, left) / bare_s, 0.0, 1.0) : 0;
        part = std::min(part.value_or(1.0), host_part);
    }
    return part;
}

} // namespace plumb
