#include "record/watch/node/io_watch.h"

#include "platform/io_counts.h"

namespace plumb::record {

namespace {

constexpr uint64_t kCostFactor = 500;

} // namespace

IoWatch::IoWatch(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
    : file_(file), proc_root_(std::move(proc_root)), rounds_(begin_ns, kCostFactor) {}

void IoWatch::look(ProcessTable& processes, uint64_t now_ns) {
    rounds_.look(processes, now_ns,
                 [&](const Process& process, trace::ProcessMemory*& record) { read_one(process, now_ns, record); });
}

void IoWatch::read_one(const Process& process, uint64_t now_ns, trace::ProcessMemory*& record) {
    if (!process.modules_written) // not sampled
        return;
    const auto io = platform::read_io_counts(proc_root_, process.pid);
    if (!io)
        return;
    if (!record) {
        trace::ProcessMemory first{};
        first.pid = process.pid;
        first.first_ns = now_ns;
        record = file_.append(trace::RecordType::ProcessMemory, 0, first);
        if (!record)
            return;
    }
    update(record->read_calls, io->read_calls);
    update(record->read_bytes, io->read_bytes);
    update(record->write_calls, io->write_calls);
    update(record->write_bytes, io->write_bytes);
    update(record->last_ns, now_ns);
}

} // namespace plumb::record
