#include "trace/builders/thread_builder.h"

#include <algorithm>
#include <iterator>

namespace plumb::trace {

uint32_t ThreadBuilder::add(uint32_t tid, uint64_t start_ns) {
    const auto index = static_cast<uint32_t>(process_.threads.size());
    of_tid_[tid].push_back(index);
    facts_.emplace_back();
    model::Thread& thread = process_.threads.emplace_back();
    thread.tid = tid;
    thread.start_ns = start_ns;
    return index;
}

uint32_t ThreadBuilder::at(uint32_t tid, uint64_t time_ns) {
    const auto found = of_tid_.find(tid);
    if (found == of_tid_.end())
        return add(tid, 0);
    const auto& candidates = found->second; // in order of their begin
    const auto after = std::upper_bound(candidates.begin(), candidates.end(), time_ns,
                                        [this](uint64_t time, uint32_t thread) {
                                            return time < process_.threads[thread].start_ns;
                                        });
    return after == candidates.begin() ? *after : *std::prev(after);
}

void ThreadBuilder::take(const ThreadStart& record, uint64_t time_ns, uint32_t creation_path) {
    uint32_t index = at(record.header.tid, time_ns);
    if (facts_[index].started)
        index = add(record.header.tid, std::max(time_ns, process_.threads[index].start_ns));
    facts_[index].started = true;
    model::Thread& thread = process_.threads[index];
    if (thread.start_ns == 0)
        thread.start_ns = time_ns;
    thread.start_routine = record.start_routine;
    thread.creation_path = creation_path;
}

void ThreadBuilder::take(const ThreadEnd& record, uint64_t time_ns) {
    const uint32_t index = at(record.header.tid, time_ns);
    process_.threads[index].end_ns = time_ns;
    facts_[index].cpu_time_ns = record.cpu_time_ns;
}

void ThreadBuilder::take(const ThreadName& record, const FileContext& context) {
    // It bears no time, but a thread's records follow each other: it is the latest of that id.
    process_.threads[at(record.header.tid, UINT64_MAX)].name = context.text(record.name);
}

void ThreadBuilder::take(const ThreadSchedule& record, FileContext& context) {
    const uint64_t first = context.time(record.first_ns);
    const uint64_t last = context.time(record.last_ns);
    uint32_t index = at(record.header.tid, last);
    if (facts_[index].scheduled)
        index = add(record.header.tid, std::max(first, process_.threads[index].start_ns));
    facts_[index].scheduled = true;
    model::Thread& thread = process_.threads[index];
    if (!facts_[index].started)
        thread.start_ns = first;
    if (thread.end_ns == 0 && (record.flags & kScheduleEnded))
        thread.end_ns = last;
    if (const std::string name = context.text(record.name); !name.empty())
        thread.name = name;
    thread.run_ns = record.run_ns;
    thread.run_delay_ns = record.run_delay_ns;
    thread.user_ns = record.user_ns;
    thread.system_ns = record.system_ns;
    thread.voluntary_switches = record.voluntary_switches;
    thread.involuntary_switches = record.involuntary_switches;
    thread.migrations = record.migrations;
    thread.migrations_exact = (record.flags & kScheduleExactMigrations) != 0;
    thread.minor_faults = record.minor_faults;
    thread.major_faults = record.major_faults;
    thread.allowed_cpus = context.cpus(record.allowed_cpus);
}

void ThreadBuilder::take(const ThreadInterval& record, const FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = context.time(record.end_ns);
    process_.threads[at(record.header.tid, end)].intervals.push_back(
        {.begin_ns = begin,
         .end_ns = end,
         .cpu = record.cpu,
         .run_ns = record.run_ns,
         .run_delay_ns = record.run_delay_ns,
         .migrations = record.migrations,
         .state = record.state >= ' ' && record.state < 0x7f ? static_cast<char>(record.state) : '?'});
}

void ThreadBuilder::take(const Placement& record, uint64_t time_ns) {
    process_.threads[at(record.header.tid, time_ns)].placement = model::Placement{
        .slot = record.slot, .cpu = record.cpu, .memory_node = record.memory_node, .error = record.error};
}

void ThreadBuilder::take(const ThreadWall& record, const FileContext& context) {
    const uint32_t thread = at(record.header.tid, context.time(record.first_ns));
    process_.threads[thread].wall_running_ns += record.running_ns;
    process_.threads[thread].wall_no_cpu_ns += std::min(record.no_cpu_ns, record.running_ns);
}

void ThreadBuilder::take(const ThreadSwitches& record, const FileContext& context) {
    const uint64_t first = context.time(record.first_ns), last = context.time(record.last_ns);
    model::ThreadSwitches& switches = process_.threads[at(record.header.tid, first)].switches;
    switches = {.stopped = (record.flags & kSwitchesStopped) != 0,
                .first_ns = first,
                .last_ns = last,
                .on_ns = record.on_ns,
                .blocked_count = record.blocked_count,
                .blocked_ns = record.blocked_ns,
                .preempted_count = record.preempted_count,
                .preempted_ns = record.preempted_ns,
                .broken_count = record.broken_count,
                .broken_ns = record.broken_ns};
    std::ranges::copy(record.blocked_counts, switches.blocked_counts.begin());
    std::ranges::copy(record.blocked_times_ns, switches.blocked_times_ns.begin());
    std::ranges::copy(record.preempted_counts, switches.preempted_counts.begin());
}

void ThreadBuilder::take(const Preemption& record, const FileContext& context) {
    const uint64_t begin = context.time(record.begin_ns), end = context.time(record.end_ns);
    if (end <= begin)
        return;
    process_.threads[at(record.header.tid, begin)].preemptions.push_back({.begin_ns = begin,
                                                                          .end_ns = end,
                                                                          .cpu = record.cpu,
                                                                          .taker = record.taker,
                                                                          .by_recorder = (record.flags & kPreemptedByRecorder) != 0});
}

void ThreadBuilder::finish() {
    for (size_t i = 0; i < process_.threads.size(); ++i) {
        model::Thread& thread = process_.threads[i];
        if (thread.start_ns == 0)
            thread.start_ns = process_.start_ns;
        if (thread.end_ns == 0)
            thread.end_ns = std::max(process_.end_ns, thread.start_ns);
        if (thread.run_ns == 0)
            thread.run_ns = facts_[i].cpu_time_ns;
        if (thread.name.empty())
            thread.name = process_.name;
        std::stable_sort(thread.intervals.begin(), thread.intervals.end(),
                         [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
        std::ranges::stable_sort(thread.preemptions, {}, &model::Preemption::begin_ns);
    }
}

} // namespace plumb::trace
