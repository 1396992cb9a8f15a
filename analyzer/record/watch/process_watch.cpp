#include "record/watch/process_watch.h"

#include "platform/huge_pages.h"
#include "platform/io_counts.h"
#include "platform/task_stat.h"

namespace plumb::record {

namespace {

constexpr uint64_t kCostFactor = 500;
// While the kernel walks a process's page tables, that process cannot map or unmap memory.
constexpr double kLongestWalk_ns = 20e6;
constexpr double kWalkOfByte_ns = 50.0 / 4096; // on small pages; on huge ones far less

} // namespace

ProcessWatch::ProcessWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
    : file_(file), proc_root_(std::move(proc_root)), rounds_(begin_ns, kCostFactor) {}

void ProcessWatch::look(ProcessTable& processes, uint64_t now_ns) {
    rounds_.look(processes, now_ns,
                 [&](const Process& process, trace::ProcessMemory*& record) { read_one(process, now_ns, record); });
}

trace::ProcessMemory* ProcessWatch::begin_record(uint32_t pid, uint64_t now_ns) {
    const auto stat = platform::read_process_stat(proc_root_, pid);
    if (!stat) // gone
        return nullptr;
    trace::ProcessMemory first{};
    first.pid = pid;
    first.first_ns = now_ns;
    first.stack_start = stat->stack_start;
    first.environment_bytes = stat->environment_bytes;
    return file_.append(trace::RecordType::ProcessMemory, 0, first);
}

void ProcessWatch::read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record) {
    if (!process.modules_written) // not sampled
        return;
    if (!record)
        record = begin_record(process.pid, now_ns);
    if (!record)
        return;
    if (const auto io = platform::read_io_counts(proc_root_, process.pid)) {
        update(record->read_calls, io->read_calls);
        update(record->read_bytes, io->read_bytes);
        update(record->write_calls, io->write_calls);
        update(record->write_bytes, io->write_bytes);
    }
    look_at_pages(process.pid, *record);
    update(record->last_ns, now_ns);
}

void ProcessWatch::look_at_pages(uint32_t pid, trace::ProcessMemory& record) {
    const auto resident = static_cast<double>(platform::resident_bytes(proc_root_, pid));
    double& of_byte_ns = walks_.try_emplace(&record, kWalkOfByte_ns).first->second;
    if (resident < static_cast<double>(record.backed_bytes) || resident * of_byte_ns > kLongestWalk_ns)
        return;
    const uint64_t begin_ns = monotonic_ns();
    const auto backing = platform::read_whole_backing(proc_root_, pid);
    if (!backing || backing->resident_bytes == 0)
        return;
    of_byte_ns = static_cast<double>(monotonic_ns() - begin_ns) / static_cast<double>(backing->resident_bytes);
    update(record.backed_bytes, backing->resident_bytes);
    update(record.huge_bytes, backing->huge_bytes);
}

} // namespace plumb::record
