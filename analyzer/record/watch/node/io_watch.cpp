#include "record/watch/node/io_watch.h"

#include "platform/io_counts.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr uint64_t kShortest_ns = 100'000'000, kLongest_ns = 1'000'000'000;
constexpr uint64_t kAgeShare = 32;    // of the run's age: between two looks
constexpr uint64_t kCostFactor = 500; // looking may take 1/500 of the time

} // namespace

void IoWatch::look(ProcessTable& processes, uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    const uint64_t begin_cpu_ns = own_cpu_ns();
    std::unordered_map<uint32_t, Known> living;
    for (const uint32_t pid : processes.living()) {
        const Process* process = processes.find(pid);
        if (!process || !process->modules_written || process->flags & trace::kSeenDormant)
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

void IoWatch::read_one(const Process& process, uint64_t now_ns, Known& known) {
    const auto io = platform::read_io_counts(proc_root_, process.pid);
    if (!io)
        return;
    if (!known.record) {
        trace::ProcessMemory record{};
        record.pid = process.pid;
        record.first_ns = now_ns;
        known.record = file_.append(trace::RecordType::ProcessMemory, 0, record);
        if (!known.record)
            return;
    }
    trace::ProcessMemory& record = *known.record;
    update(record.read_calls, io->read_calls);
    update(record.read_bytes, io->read_bytes);
    update(record.write_calls, io->write_calls);
    update(record.write_bytes, io->write_bytes);
    update(record.last_ns, now_ns);
}

} // namespace plumb::record
