#include "record/watch/memory/footprints.h"

#include "platform/task_stat.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr uint64_t kShortest_ns = 100'000'000, kLongest_ns = 1'000'000'000;
constexpr uint64_t kAgeShare = 32;    // of the run's age: between two looks
constexpr uint64_t kCostFactor = 100; // looking may take 1/100 of the time

} // namespace

void Footprints::look(ProcessTable& processes, uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    const uint64_t begin_cpu_ns = own_cpu_ns();
    std::unordered_map<uint32_t, Known> living;
    for (const uint32_t pid : processes.living()) {
        const Process* process = processes.find(pid);
        if (!process || process->flags & trace::kSeenDormant)
            continue;
        Known& known = living[pid];
        if (const auto before = known_.find(pid);
            before != known_.end() && before->second.generation == process->generation)
            known = before->second;
        known.generation = process->generation;
        read_one(*process, now_ns, known);
    }
    known_ = std::move(living);
    next_ns_ = now_ns + std::max(std::clamp((now_ns - begin_ns_) / kAgeShare, kShortest_ns, kLongest_ns),
                                 (own_cpu_ns() - begin_cpu_ns) * kCostFactor);
}

void Footprints::read_one(const Process& process, uint64_t now_ns, Known& known) {
    const auto status = platform::read_task_status(proc_root_, process.pid, process.pid);
    if (!status || status->peak_resident_bytes == 0) // gone, or a zombie
        return;
    if (!known.record) {
        trace::ProcessMemory record{};
        record.pid = process.pid;
        record.first_ns = now_ns;
        if (!(process.flags & trace::kSeenExec)) // pages that it shares with its parent until one of them writes
            record.inherited_bytes = status->anonymous_bytes;
        known.record = file_.append(trace::RecordType::ProcessMemory, 0, record);
        if (!known.record)
            return;
    }
    trace::ProcessMemory& record = *known.record;
    update(record.peak_bytes, std::max(record.peak_bytes, status->peak_resident_bytes));
    update(record.anonymous_bytes, std::max(record.anonymous_bytes, status->anonymous_bytes));
    update(record.shared_bytes, std::max(record.shared_bytes, status->shared_bytes));
    update(record.last_ns, now_ns);
    if (const std::string policy = platform::read_memory_policy(proc_root_, process.pid); !policy.empty())
        update(record.policy, file_.string(policy));
}

} // namespace plumb::record
