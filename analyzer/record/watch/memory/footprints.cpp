#include "record/watch/memory/footprints.h"

#include "platform/task_stat.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr uint64_t kCostFactor = 100;

} // namespace

Footprints::Footprints(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
    : file_(file), proc_root_(std::move(proc_root)), rounds_(begin_ns, kCostFactor) {}

void Footprints::look(ProcessTable& processes, uint64_t now_ns) {
    rounds_.look(processes, now_ns,
                 [&](const Process& process, trace::ProcessMemory*& record) { read_one(process, now_ns, record); });
}

void Footprints::read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record) {
    const auto status = platform::read_task_status(proc_root_, process.pid, process.pid);
    if (!status || status->peak_resident_bytes == 0) // gone, or a zombie
        return;
    if (!record) {
        trace::ProcessMemory first{};
        first.pid = process.pid;
        first.first_ns = now_ns;
        if (!(process.flags & trace::kSeenExec)) // pages that it shares with its parent until one of them writes
            first.inherited_bytes = status->anonymous_bytes;
        record = file_.append(trace::RecordType::ProcessMemory, 0, first);
        if (!record)
            return;
    }
    update(record->peak_bytes, std::max(record->peak_bytes, status->peak_resident_bytes));
    update(record->anonymous_bytes, std::max(record->anonymous_bytes, status->anonymous_bytes));
    update(record->shared_bytes, std::max(record->shared_bytes, status->shared_bytes));
    update(record->last_ns, now_ns);
    if (const std::string policy = platform::read_memory_policy(proc_root_, process.pid); !policy.empty())
        update(record->policy, file_.string(policy));
}

} // namespace plumb::record
