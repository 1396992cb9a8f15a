#include "replay/cycles.h"

#include "replay/cycle_times.h"
#include "replay/events/rank_time.h"

#include <algorithm>

namespace plumb::replay {

namespace {

// What is left of the time between two meetings once the responsible rank's parts are known.
model::MpiCycleParts seconds_of(const MeetingParts* parts, Nanoseconds length) {
    model::MpiCycleParts result;
    if (!parts) { // that rank's file could not be read
        result.other_s = seconds(length);
        return result;
    }
    const Nanoseconds compute = std::min(parts->compute, length);
    const Nanoseconds without_cpu = std::min(parts->without_cpu, compute);
    const Nanoseconds blocked = std::min(parts->blocked, compute - without_cpu);
    const Nanoseconds busy = compute - without_cpu - blocked;
    const Nanoseconds work = std::clamp(parts->usual, Nanoseconds{0}, busy);
    const Nanoseconds waiting = std::min(parts->waiting, length - compute);
    const Nanoseconds in_mpi = std::min(parts->without_cpu_in_mpi, length - compute - waiting);
    result.work_s = seconds(work);
    result.imbalance_s = seconds(busy - work);
    result.without_cpu_s = seconds(without_cpu + in_mpi);
    result.blocked_s = seconds(blocked);
    result.waiting_s = seconds(waiting);
    result.mpi_s = seconds(length - compute - waiting - in_mpi);
    return result;
}

model::MpiCycleParts sum_of(const model::MpiCycleParts& left, const model::MpiCycleParts& right) {
    return {left.work_s + right.work_s,       left.imbalance_s + right.imbalance_s, left.without_cpu_s + right.without_cpu_s,
            left.blocked_s + right.blocked_s, left.waiting_s + right.waiting_s,     left.mpi_s + right.mpi_s,
            left.other_s + right.other_s};
}

// Each meeting has one responsible rank; of what damaged files say several times, the greatest.
std::vector<const MeetingParts*> by_epoch(const std::vector<MeetingParts>& parts, size_t epochs) {
    std::vector<const MeetingParts*> found(epochs);
    for (const MeetingParts& one : parts)
        if (one.epoch < epochs && (!found[one.epoch] || *found[one.epoch] < one))
            found[one.epoch] = &one;
    return found;
}

CycleTimes times_of(const EpochTable& epochs, const CycleShape& shape, const std::vector<MeetingParts>& parts, Nanoseconds begin) {
    const std::vector<Epoch>& all = epochs.epochs();
    const std::vector<const MeetingParts*> found = by_epoch(parts, all.size());
    CycleTimes times;
    auto meeting = std::ranges::find(shape.meetings, shape.ends.front()); // the cycle ends before it
    for (size_t end = 1; end < shape.ends.size(); ++end) {
        const Nanoseconds from = all[shape.ends[end - 1]].last.begin;
        model::MpiCycleParts sum;
        uint64_t signature = 0;
        Nanoseconds last = from;
        while (*meeting != shape.ends[end]) {
            const Epoch& epoch = all[*++meeting];
            sum = sum_of(sum, seconds_of(found[*meeting], epoch.last.begin - last));
            signature = signature * 1'000'003 + (uint64_t{epoch.comm} << 32) + epoch.site + 1;
            last = epoch.last.begin;
        }
        times.begin_s.push_back(std::max(0.0, seconds(from - begin))); // clocks of hosts differ a little
        times.length_s.push_back(seconds(last - from));
        times.parts.push_back(sum);
        times.signature.push_back(signature);
    }
    return times;
}

// Mean time between two looks at the ranks' threads.
double look_of(const model::Run& run, const Job& job) {
    double sum_s = 0, looks = 0;
    for (const Rank& rank : job.ranks) {
        const model::Process& process = run.processes[rank.process];
        const uint32_t thread = main_mpi_thread(process);
        if (thread >= process.threads.size())
            continue;
        for (const model::ThreadInterval& interval : process.threads[thread].intervals)
            if (interval.end_ns > interval.begin_ns) {
                sum_s += static_cast<double>(interval.end_ns - interval.begin_ns) * 1e-9;
                looks++;
            }
    }
    return looks > 0 ? sum_s / looks : 0;
}

} // namespace

model::MpiGranularity granularity_of(const JobCharge& all, const EpochTable& epochs) {
    model::MpiGranularity granularity;
    granularity.intervals = all.compute.total() * epochs.stride();
    if (all.compute.total() == 0)
        return granularity;
    granularity.mean_s = seconds(all.compute_sum) / static_cast<double>(all.compute.total());
    granularity.least_s = seconds(all.compute_least);
    granularity.most_s = seconds(all.compute_most);
    const auto quantile_s = [&](double part) {
        return std::clamp(all.compute.quantile(part) * 1e-9, granularity.least_s, granularity.most_s);
    };
    granularity.tenth_s = quantile_s(0.1);
    granularity.median_s = quantile_s(0.5);
    granularity.ninetieth_s = quantile_s(0.9);
    return granularity;
}

model::MpiCycles cycles_of(const model::Run& run, const Job& job, const EpochTable& epochs, const CycleShape& shape,
                           const std::vector<MeetingParts>& parts, Nanoseconds begin) {
    model::MpiCycles cycles;
    if (shape.ends.size() < 2)
        return cycles;
    const Epoch& first = epochs.epochs()[shape.ends.front()];
    if (first.site_row >= job.ranks.size())
        return cycles;
    cycles.process = job.ranks[first.site_row].process;
    const model::MpiProcess& mpi = *run.processes[cycles.process].mpi;
    if (first.site >= mpi.sites.size())
        return cycles;
    cycles.call = mpi.sites[first.site].call;
    cycles.path = mpi.sites[first.site].path;
    CycleTimes times = times_of(epochs, shape, parts, begin);
    times.look_s = look_of(run, job);
    describe_cycles(times, cycles);
    return cycles;
}

} // namespace plumb::replay
