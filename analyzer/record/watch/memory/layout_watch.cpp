#include "record/watch/memory/layout_watch.h"

#include "platform/huge_pages.h"
#include "platform/task_stat.h"

namespace plumb::record {

namespace {

constexpr uint64_t kLayoutCostFactor = 500; // the kernel walks all page tables

} // namespace

LayoutWatch::LayoutWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
    : file_(file), proc_root_(std::move(proc_root)), rounds_(begin_ns, kLayoutCostFactor) {}

void LayoutWatch::look(ProcessTable& processes, uint64_t now_ns) {
    rounds_.look(processes, now_ns,
                 [&](const Process& process, trace::ProcessMemory*& record) { read_one(process, now_ns, record); });
}

void LayoutWatch::read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record) {
    if (!process.modules_written) // not sampled
        return;
    if (!record) {
        const auto stat = platform::read_process_stat(proc_root_, process.pid);
        if (!stat || stat->stack_start == 0)
            return;
        trace::ProcessMemory first{};
        first.pid = process.pid;
        first.first_ns = now_ns;
        first.stack_start = stat->stack_start;
        first.environment_bytes = stat->environment_bytes;
        record = file_.append(trace::RecordType::ProcessMemory, 0, first);
        if (!record)
            return;
    }
    const auto backing = platform::read_whole_backing(proc_root_, process.pid);
    if (!backing || backing->resident_bytes < record->backed_bytes)
        return;
    update(record->backed_bytes, backing->resident_bytes);
    update(record->huge_bytes, backing->huge_bytes);
    update(record->last_ns, now_ns);
}

} // namespace plumb::record
