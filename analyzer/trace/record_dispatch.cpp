#include "trace/record_dispatch.h"

#include "trace/file/records.h"

#include <utility>

namespace plumb::trace {

namespace {

template <class Record> Record with_inner_threads(Record record, uint32_t pid, const FileContext& context) {
    record.header.tid = context.inner_tid(pid, record.header.tid);
    if constexpr (requires { record.holder; })
        record.holder = context.inner_tid(pid, record.holder);
    return record;
}

template <class Record>
concept OfProcess = requires(ProcessBuilder& builder, const Record& record, FileContext& context) { builder.take(record, context); };
template <class Record>
concept OfHost = requires(HostBuilder& builder, const Record& record, FileContext& context) { builder.take(record, context); };

// By its begin, as it ends when the next program begins under the same pid, or after.
template <class Record> uint64_t time_in_image(const Record& record) {
    if constexpr (requires { record.first_ns; })
        return record.first_ns;
    else if constexpr (requires { record.begin_ns; })
        return record.begin_ns;
    else if constexpr (requires { record.time_ns; })
        return record.time_ns;
    else
        return 0;
}
// Without a time: the last program that ran under its pid.
uint64_t time_in_image(const AccessSite& record) { return record.first_ns ? record.first_ns : UINT64_MAX / 2; }
// A module goes away at the moment the next image begins: it belongs to the one before.
uint64_t time_in_image(const ModuleUnload& record) { return record.time_ns == 0 ? 0 : record.time_ns - 1; }

void take_names(TraceReader& trace, FileContext& context) {
    for_each_record(trace, Overloaded{
                               [&](const String& record, std::string_view text) { context.strings.add(record.id, text); },
                               [&](const PathNode& record) { context.nodes.add(record); },
                               [&](const ProcessSeen& record) {
                                   if (record.inner_pid != 0)
                                       context.add_inner_thread(record.pid, record.pid, record.inner_pid);
                               },
                               [&](const ThreadSchedule& record) {
                                   if (record.inner_tid != 0)
                                       context.add_inner_thread(record.pid, record.header.tid, record.inner_tid);
                               },
                               [&](const HeapSite& record) { context.see_peak_epoch(record.peak_epoch); },
                           });
}

} // namespace

template <class Record>
void RecordDispatch::give(const Record& record, uint32_t process, uint32_t pid, FileContext& context) {
    if (process == ProcessImages::kNone) {
        ++skipped_.of_unknown_processes;
        return;
    }
    context.set_pid(pid);
    if (context.has_inner_threads())
        processes_[process].take(with_inner_threads(record, pid, context), context);
    else
        processes_[process].take(record, context);
}

void RecordDispatch::take(TraceReader& trace, size_t file, FileContext& context) {
    take_names(trace, context);
    const uint32_t own = images_.process_of(file), own_pid = static_cast<uint32_t>(trace.header().pid);
    skipped_.of_unknown_kind += for_each_record(
        trace, Overloaded{
                   [&]<OfHost Record>(const Record& record) { hosts_[context.host()].take(record, context); },
                   [&]<OfProcess Record>(const Record& record) {
                       uint32_t pid = own_pid;
                       if constexpr (requires { record.pid; })
                           pid = record.pid;
                       // In a shim's file all are about its own process.
                       give(record, trace.is_of_recorder() ? process_at(context, pid, time_in_image(record)) : own, pid, context);
                   },
                   [&](const WaitedFor& record) { take_waited_for(record, context); },
                   [&](const Evidence& record) { take_evidence(record, context); },
               });
    trace.pass_over_events(false);
    run_.recorded_bytes += trace.used_bytes();
    run_.notes.insert(run_.notes.end(), trace.notes().begin(), trace.notes().end());
    if (own != ProcessImages::kNone) {
        run_.processes[own].own_cost_ns += trace.header().own_cost_ns;
        ++run_.processes[own].shim_loads;
        processes_[own].end_shim_file(context.time(trace.header().opened_ns), trace.name());
    } else {
        for (ProcessBuilder& process : processes_)
            process.end_file();
    }
    note_dropped(run_, trace);
}

// It speaks of two processes.
void RecordDispatch::take_waited_for(WaitedFor record, FileContext& context) {
    const uint32_t process = process_at(context, record.pid, record.first_ns),
                   peer = process_at(context, record.peer_pid, record.first_ns);
    if (process == ProcessImages::kNone || peer == ProcessImages::kNone) {
        ++skipped_.of_unknown_processes;
        return;
    }
    record.header.tid = context.inner_tid(record.pid, record.header.tid);
    record.peer_tid = context.inner_tid(record.peer_pid, record.peer_tid);
    context.set_pid(record.pid);
    processes_[process].take(record, peer, processes_[peer], context);
}

// One entry for each thing that was said; a hundred processes that say the same say it once.
void RecordDispatch::take_evidence(const Evidence& record, const FileContext& context) {
    using State = model::Evidence::State;
    model::Evidence evidence{.source = context.text(record.source),
                             .state = record.state == static_cast<uint32_t>(EvidenceState::ok)        ? State::ok
                                      : record.state == static_cast<uint32_t>(EvidenceState::limited) ? State::limited
                                                                                                      : State::missing,
                             .why = context.text(record.why),
                             .enable = context.text(record.enable)};
    if (evidence_.emplace(evidence.source, evidence.state, evidence.why).second)
        run_.evidence.push_back(std::move(evidence));
}

} // namespace plumb::trace
