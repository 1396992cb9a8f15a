#include "diagnoses/cpu/placement_replay.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace plumb {

namespace {

constexpr double kTick_s = 0.01;        // resolution of a CPU's idle time
constexpr double kLeastWait = 0.02;     // of the slot: less is the latency of ordinary wake-ups
constexpr double kLeastCapacity = 0.05; // of a CPU: less is not worth moving to
constexpr double kLeading = 0.95;       // of the most active thread's activity: these do not wait for others

struct Waiting {
    std::vector<size_t> members;        // indexes into Slot::activities
    double window_s = 0;                // how long the most active of them was active
    bool confined = false;              // most of the waiting is by threads that someone confined
};

Waiting waiting_of(const Schedule& schedule, const Slot& slot) {
    Waiting waiting;
    double confined_s = 0, free_s = 0;
    for (size_t i = 0; i < slot.activities.size(); i++) {
        const Activity& activity = slot.activities[i];
        if (activity.delay_s < kLeastWait * slot.length_s)
            continue;
        waiting.members.push_back(i);
        waiting.window_s = std::max(waiting.window_s, activity.active_s());
        (schedule.tasks[activity.task].narrowed ? confined_s : free_s) += activity.delay_s;
    }
    waiting.confined = confined_s > free_s;
    return waiting;
}

// Seconds that the waiting threads of the slot ran on `cpu`.
double used_on(const Slot& slot, const Waiting& waiting, const CpuLoad& cpu) {
    double used_s = 0;
    for (size_t member : waiting.members)
        if (slot.activities[member].cpu == cpu.cpu)
            used_s += slot.activities[member].run_s;
    return std::min(used_s, cpu.own_s);
}

// Fair shares of a CPU between the run and other programs, as one runnable program of theirs counts like one of our
// threads.
struct FairShares {
    double rivals = 0; // on each CPU that was waited for: they and we got what they and we got there
    double before = 1; // our part there
    double after = 1;  // and on any CPU with the waiting threads spread over all
};

FairShares fair_shares(const Slot& slot, const Waiting& waiting, const ReplayConditions& conditions) {
    double used_s = 0, others_s = 0, taken_cpus = 0;
    for (const CpuLoad& cpu : slot.cpus)
        if (const double here_s = used_on(slot, waiting, cpu); here_s > 0) {
            used_s += here_s;
            others_s += cpu.others_s * conditions.others_known;
            taken_cpus++;
        }
    if (used_s <= 0)
        return {};
    const double threads = static_cast<double>(waiting.members.size());
    const double company = threads / taken_cpus;
    const double company_after = std::max(1.0, threads / static_cast<double>(slot.cpus.size()));
    FairShares shares;
    shares.rivals = company * others_s / used_s;
    shares.before = company / (company + shares.rivals);
    shares.after = company_after / (company_after + std::max(1.0, shares.rivals));
    return shares;
}

// What each CPU on offer gives the waiting threads: CPU seconds in a second of the time they are active, the most first.
std::vector<double> rates_of(const Slot& slot, const Waiting& waiting, const ReplayConditions& conditions) {
    std::vector<double> rates;
    const FairShares shares = fair_shares(slot, waiting, conditions);
    for (const CpuLoad& cpu : slot.cpus) {
        double used_s = used_on(slot, waiting, cpu);
        double idle_s = waiting.confined ? cpu.idle_s * waiting.window_s / slot.length_s
                                         : std::max(0.0, cpu.idle_s - 2 * kTick_s + waiting.window_s - slot.length_s);
        const double others_s = cpu.others_s * waiting.window_s / slot.length_s;
        if (conditions.others_gone)
            idle_s += others_s;
        else if (waiting.confined && used_s == 0)
            idle_s += others_s * conditions.others_known * shares.after;
        else if (waiting.confined && shares.rivals >= 1)
            used_s *= std::min(1.0, shares.after / shares.before);
        rates.push_back(std::min(1.0, (used_s + idle_s) / waiting.window_s));
    }
    std::erase_if(rates, [](double rate) { return rate < kLeastCapacity; });
    std::sort(rates.begin(), rates.end(), std::greater<>());
    return rates;
}

// What the waiting threads had of each CPU, in the same terms.
std::vector<double> former_rates(const Slot& slot, const Waiting& waiting) {
    std::vector<double> rates;
    for (const CpuLoad& cpu : slot.cpus)
        if (const double used_s = used_on(slot, waiting, cpu); used_s > 0)
            rates.push_back(std::min(1.0, used_s / waiting.window_s));
    std::sort(rates.begin(), rates.end(), std::greater<>());
    return rates;
}

// Seconds after which each of the waiting threads is done when a fair scheduler deals out the CPUs in slices that are small
// against the slot: those that are not done yet progress alike, each on one CPU at a time, and no CPU idles while one waits.
std::vector<double> finish_times(const Slot& slot, const Waiting& waiting, const std::vector<double>& rates) {
    std::vector<size_t> by_work(waiting.members.size());
    std::iota(by_work.begin(), by_work.end(), size_t{0});
    const auto work_s = [&](size_t index) { return slot.activities[waiting.members[index]].run_s; };
    std::stable_sort(by_work.begin(), by_work.end(), [&](size_t left, size_t right) { return work_s(left) < work_s(right); });
    std::vector<double> finish_s(waiting.members.size());
    double now_s = 0, progress_s = 0;
    for (size_t done = 0; done < by_work.size(); done++) {
        const size_t runnable = by_work.size() - done;
        const auto used_cpus = static_cast<std::ptrdiff_t>(std::min(runnable, rates.size()));
        const double given = std::accumulate(rates.begin(), rates.begin() + used_cpus, 0.0);
        now_s += (work_s(by_work[done]) - progress_s) * static_cast<double>(runnable) / given;
        progress_s = work_s(by_work[done]);
        finish_s[by_work[done]] = now_s;
    }
    return finish_s;
}

} // namespace

std::vector<double> spared_delay(const Schedule& schedule, const Slot& slot, const ReplayConditions& conditions) {
    std::vector<double> spared(slot.activities.size(), 0.0);
    const Waiting waiting = waiting_of(schedule, slot);
    if (waiting.members.empty())
        return spared;
    const std::vector<double> rates = rates_of(slot, waiting, conditions);
    if (rates.empty())
        return spared;
    const std::vector<double> finish_s = finish_times(slot, waiting, rates);
    const std::vector<double> former = former_rates(slot, waiting);
    const std::vector<double> former_s = former.empty() ? std::vector<double>() : finish_times(slot, waiting, former);
    for (size_t i = 0; i < waiting.members.size(); i++) {
        const Activity& activity = slot.activities[waiting.members[i]];
        const bool had_none = former.empty() || activity.run_s <= 0; // it waited all the time
        spared[waiting.members[i]] =
            std::clamp((had_none ? activity.active_s() : former_s[i]) - finish_s[i], 0.0, activity.delay_s);
    }
    return spared;
}

double replayed_seconds(const Schedule& schedule, const ReplayConditions& conditions) {
    std::vector<double> reached_s(schedule.tasks.size(), 0.0); // end of each task's chain so far
    std::vector<size_t> last_slot(schedule.tasks.size(), SIZE_MAX);
    double now_s = 0, end_s = 0; // of the replayed run: after the slot before; its end so far
    for (size_t index = 0; index < schedule.slots.size(); index++) {
        const Slot& slot = schedule.slots[index];
        double most_s = 0;
        for (const Activity& activity : slot.activities)
            most_s = std::max(most_s, activity.active_s());
        if (most_s < kLeastWait * slot.length_s) { // all asleep: waiting for the world
            now_s += slot.length_s;
            end_s = std::max(end_s, now_s);
            continue;
        }
        const std::vector<double> spared = spared_delay(schedule, slot, conditions);
        double leaders_s = 0;
        for (size_t i = 0; i < slot.activities.size(); i++) {
            const Activity& activity = slot.activities[i];
            if (activity.active_s() < kLeading * most_s)
                continue;
            const bool goes_on = index > 0 && last_slot[activity.task] == index - 1;
            const double before_s = goes_on ? reached_s[activity.task] : std::max(reached_s[activity.task], now_s);
            reached_s[activity.task] = before_s + slot.length_s - spared[i];
            last_slot[activity.task] = index;
            leaders_s = std::max(leaders_s, reached_s[activity.task]);
        }
        for (const Activity& activity : slot.activities)
            if (activity.active_s() < kLeading * most_s) {
                reached_s[activity.task] = leaders_s;
                last_slot[activity.task] = index;
            }
        now_s = leaders_s;
        end_s = std::max(end_s, now_s);
    }
    return end_s;
}

} // namespace plumb
