// Three passes over each file, so that nothing has to be kept until it can be resolved: which processes there were
// (over all files), then for each file the texts and call-path nodes, then what refers to them.
#include "trace/build_run.h"

#include "trace/builders/host_builder.h"
#include "trace/builders/process_builder.h"
#include "trace/file/records.h"
#include "trace/file/run_directory.h"
#include "trace/file/run_json.h"
#include "trace/process_images.h"
#include "trace/run_notes.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace plumb::trace {

namespace {

constexpr uint64_t kBaseAllowanceBytes = 64 << 20;
constexpr uint64_t kAllowancePerByte = 16;

uint64_t total_stored_bytes(const std::vector<TraceReader>& files) {
    uint64_t bytes = 0;
    for (const TraceReader& file : files)
        bytes += file.stored_bytes();
    return bytes;
}

// A module goes away at the moment the next image begins: it belongs to the one before.
uint64_t before(uint64_t time_ns) { return time_ns == 0 ? 0 : time_ns - 1; }

template <class Record> Record with_inner_threads(Record record, uint32_t pid, const FileContext& context) {
    record.header.tid = context.inner_tid(pid, record.header.tid);
    if constexpr (requires { record.holder; })
        record.holder = context.inner_tid(pid, record.holder);
    return record;
}

class RunBuilder {
  public:
    RunBuilder(std::vector<TraceReader>& files, const RunFacts* facts)
        : files_(files), facts_(facts), allowance_(kBaseAllowanceBytes + kAllowancePerByte * total_stored_bytes(files)) {}

    model::Run build();

  private:
    struct FilePlace {
        size_t host;
        uint64_t clock_shift_ns;
        uint64_t pid_namespace;
    };
    void take_facts();
    void place_files();
    void place_namespaces();
    void find_processes();
    void take_records(size_t file);
    void take_waited_for(WaitedFor record, FileContext& context);
    void take_evidence(const Evidence& record, const FileContext& context);
    void find_times();
    void finish_processes();
    void remove_interludes();

    bool is_recorder(size_t file) const {
        return files_[file].header().writer == static_cast<uint32_t>(Writer::recorder);
    }
    FileContext context_of(size_t file) {
        return {places_[file].host, places_[file].pid_namespace, places_[file].clock_shift_ns, allowance_};
    }

    std::vector<TraceReader>& files_;
    const RunFacts* facts_;
    Allowance allowance_;
    model::Run run_;
    std::vector<FilePlace> places_;
    ProcessImages images_;
    std::deque<ProcessBuilder> processes_;
    std::vector<HostBuilder> hosts_;
    std::set<std::tuple<std::string, model::Evidence::State, std::string>> evidence_;
    Skipped skipped_;
};

void RunBuilder::take_facts() {
    run_.complete = facts_ && facts_->finished;
    if (!facts_)
        return;
    run_.command = facts_->command;
    run_.redacted = facts_->redacted;
    run_.plumb_version = facts_->plumb_version;
    run_.start_unix_ns = facts_->start_unix_ns;
    run_.begin_ns = facts_->begin_ns;
    run_.end_ns = facts_->end_ns;
    run_.exit_status = facts_->exit_status;
}

// Hosts in order, the one that run.json names first; every other host's clock is set to the first one's by what both
// clocks said when a file was opened. Machines of one name are different hosts, where the files say which machine.
void RunBuilder::place_files() {
    std::vector<uint64_t> unix_minus_monotonic;
    std::map<std::string, std::vector<std::pair<uint64_t, size_t>>> machines; // by name
    for (const TraceReader& file : files_) // those that know theirs first: the others' is the first of their name
        if (file.header().machine != 0)
            machines[file.header().host].emplace_back(file.header().machine, SIZE_MAX);
    const auto host_number = [&](const TraceReader& file) {
        auto& known = machines[file.header().host];
        if (known.empty())
            known.emplace_back(0, SIZE_MAX);
        const auto same = std::ranges::find(known, file.header().machine, [](const auto& one) { return one.first; });
        size_t& number = (same == known.end() ? known.begin() : same)->second;
        if (number == SIZE_MAX) {
            number = run_.hosts.size();
            const auto others = std::ranges::count_if(known, [](const auto& one) { return one.second != SIZE_MAX; });
            model::Host& host = run_.hosts.emplace_back();
            host.name = file.header().host;
            if (others > 1)
                host.name += fmt::format(" ({})", others);
            unix_minus_monotonic.push_back(file.header().opened_unix_ns - file.header().opened_ns);
        }
        return number;
    };
    for (const TraceReader& file : files_)
        if (facts_ && facts_->host == file.header().host)
            host_number(file);
    for (const TraceReader& file : files_) {
        const size_t host = host_number(file);
        places_.push_back({host, unix_minus_monotonic[host] - unix_minus_monotonic[0], file.header().pid_namespace});
    }
    place_namespaces();
    if (run_.start_unix_ns == 0 && !files_.empty())
        run_.start_unix_ns = files_[0].header().opened_unix_ns;
}

// The namespace of a program without /proc is not known: most are in that of their recorder.
void RunBuilder::place_namespaces() {
    std::vector<uint64_t> usual(run_.hosts.size());
    for (const bool recorders : {true, false})
        for (size_t i = 0; i < files_.size(); ++i)
            if (is_recorder(i) == recorders && usual[places_[i].host] == 0)
                usual[places_[i].host] = places_[i].pid_namespace;
    for (FilePlace& place : places_)
        if (place.pid_namespace == 0)
            place.pid_namespace = usual[place.host];
}

void RunBuilder::find_processes() {
    for (size_t i = 0; i < files_.size(); ++i) {
        FileContext context = context_of(i);
        std::vector<ProcessSeen> seen; // kept until the texts they name are known
        std::vector<ProcessStart> started;
        files_[i].pass_over_events(true); // replay/ reads them
        for_each_record(files_[i], Overloaded{
                                       [&](const String& record, std::string_view text) {
                                           context.strings.add(record.id, text);
                                       },
                                       [&](const ProcessSeen& record) { seen.push_back(record); },
                                       [&](const ProcessStart& record) {
                                           if (started.empty() && !is_recorder(i)) // a shim's file is about one image
                                               started.push_back(record);
                                       },
                                   });
        for (const ProcessSeen& record : seen)
            images_.seen(record, context);
        for (const ProcessStart& record : started)
            images_.started(record, context, i, files_[i].closed());
        if (started.empty() && !is_recorder(i)) { // its first record was lost: at least the header tells who wrote it
            ProcessStart start = {};
            start.pid = static_cast<uint32_t>(files_[i].header().pid);
            start.time_ns = files_[i].header().opened_ns;
            start.rank = start.rank_count = start.local_rank = -1;
            images_.started(start, context, i, files_[i].closed());
        }
    }
    images_.settle(run_.processes, run_.hosts);
    for (size_t i = 0; i < run_.processes.size(); ++i)
        processes_.emplace_back(static_cast<uint32_t>(i), run_.processes[i]);
    for (model::Host& host : run_.hosts)
        hosts_.emplace_back(host);
}

void RunBuilder::take_records(size_t file) {
    TraceReader& trace = files_[file];
    FileContext context = context_of(file);
    for_each_record(trace, Overloaded{
                               [&](const String& record, std::string_view text) {
                                   context.strings.add(record.id, text);
                               },
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
    HostBuilder& host = hosts_[context.host()];
    const uint32_t own_pid = static_cast<uint32_t>(trace.header().pid);
    // Records name a process and a time, which tells the image; in a shim's file all are about its own.
    const auto give = [&](const auto& record, uint32_t pid, uint64_t time_ns) {
        const uint32_t process =
            is_recorder(file) ? images_.find({context.host(), context.pid_namespace(), pid}, context.time(time_ns))
                              : images_.process_of(file);
        if (process == ProcessImages::kNone) {
            ++skipped_.of_unknown_processes;
            return;
        }
        context.set_pid(pid);
        if (context.has_inner_threads())
            processes_[process].take(with_inner_threads(record, pid, context), context);
        else
            processes_[process].take(record, context);
    };
    const auto give_host = [&](const auto& record) { host.take(record, context); };
    skipped_.of_unknown_kind += for_each_record(
        trace, Overloaded{
                   [&](const ThreadStart& record) { give(record, own_pid, record.time_ns); },
                   [&](const ThreadEnd& record) { give(record, own_pid, record.time_ns); },
                   [&](const ThreadName& record) { give(record, own_pid, 0); },
                   [&](const HeapTotals& record) { give(record, own_pid, 0); },
                   [&](const HeapSite& record) { give(record, own_pid, record.last_ns); },
                   [&](const Placement& record) { give(record, own_pid, record.time_ns); },
                   [&](const Region& record) { give(record, own_pid, record.time_ns); },
                   [&](const ProcessEnd& record) { give(record, own_pid, record.time_ns); },
                   [&](const ModuleLoad& record) { give(record, record.pid, record.time_ns); },
                   [&](const ModuleUnload& record) { give(record, record.pid, before(record.time_ns)); },
                   [&](const SampleSite& record) { give(record, record.pid, record.first_ns); },
                   [&](const BlockedSite& record) { give(record, record.pid, record.first_ns); },
                   [&](const LockHolder& record) { give(record, record.pid, record.first_ns); },
                   [&](const ThreadWall& record) { give(record, record.pid, record.first_ns); },
                   [&](const PageRead& record) { give(record, record.pid, record.first_ns); },
                   [&](const SpinLoop& record) { give(record, record.pid, record.first_ns); },
                   [&](const ThreadSwitches& record) { give(record, record.pid, record.first_ns); },
                   [&](const WaitedFor& record) { take_waited_for(record, context); },
                   // By their begin: they end when the next program begins under the same pid, or after.
                   [&](const ThreadSchedule& record) { give(record, record.pid, record.first_ns); },
                   [&](const ThreadInterval& record) { give(record, record.pid, record.begin_ns); },
                   [&](const ProcessGone& record) { give(record, record.pid, record.time_ns); },
                   [&](const AlignSite& record) { give(record, own_pid, record.time_ns); },
                   [&](const AlignCount& record) { give(record, own_pid, record.last_ns); },
                   [&](const AlignAddress& record) { give(record, own_pid, record.time_ns); },
                   [&](const AlignTotals& record) { give(record, own_pid, 0); },
                   [&](const AlignCode& record) { give(record, own_pid, 0); },
                   [&](const AccessSite& record) { // without a time: the last program that ran under its pid
                       give(record, record.pid, record.first_ns ? record.first_ns : UINT64_MAX / 2);
                   },
                   [&](const AccessStride& record) { give(record, record.pid, record.first_ns); },
                   [&](const ReplayedAccess& record) { give(record, record.pid, record.first_ns); },
                   [&](const MpiRank& record) { give(record, own_pid, 0); },
                   [&](const MpiComm& record) { give(record, own_pid, 0); },
                   [&](const MpiSite& record) { give(record, own_pid, 0); },
                   [&](const MpiPeer& record) { give(record, own_pid, 0); },
                   [&](const OmpRuntime& record) { give(record, own_pid, 0); },
                   [&](const OmpRegion& record) { give(record, own_pid, 0); },
                   [&](const OmpPart& record) { give(record, own_pid, 0); },
                   [&](const OmpWait& record) { give(record, own_pid, 0); },
                   [&](const MemoryArea& record) { give(record, record.pid, record.first_ns); },
                   [&](const MemoryTraffic& record) { give(record, record.pid, record.first_ns); },
                   [&](const MemoryEpoch& record) { give(record, record.pid, record.begin_ns); },
                   [&](const FirstTouch& record) { give(record, record.pid, record.first_ns); },
                   [&](const PageScatter& record) { give(record, record.pid, record.first_ns); },
                   [&](const MemoryStream& record) { give(record, record.pid, record.first_ns); },
                   [&](const TrafficBurst& record) { give(record, record.pid, record.begin_ns); },
                   [&](const SharedLine& record) { give(record, record.pid, record.first_ns); },
                   [&](const LineUse& record) { give(record, record.pid, record.first_ns); },
                   [&](const ProcessMemory& record) { give(record, record.pid, record.first_ns); },
                   [&](const LargeMap& record) { give(record, own_pid, record.time_ns); },
                   [&](const LargeUnmap& record) { give(record, own_pid, record.time_ns); },
                   [&](const NumaNode& record) { give_host(record); },
                   [&](const HugePages& record) { give_host(record); },
                   [&](const BandwidthRoof& record) { give_host(record); },
                   [&](const LineTransfer& record) { give_host(record); },
                   [&](const MpiRequest& record) { give(record, own_pid, 0); },
                   [&](const MpiInside& record) { give(record, own_pid, 0); },
                   [&](const AccessPenalty& record) { give_host(record); },
                   [&](const EventCount& record) { give_host(record); },
                   [&](const CpuInterval& record) { give_host(record); },
                   [&](const NodeMemory& record) { give_host(record); },
                   [&](const OtherProcess& record) { give_host(record); },
                   [&](const InterruptSource& record) { give_host(record); },
                   [&](const RecorderCost& record) { give_host(record); },
                   [&](const Topology& record) { give_host(record); },
                   [&](const Evidence& record) { take_evidence(record, context); },
               });
    trace.pass_over_events(false);
    run_.recorded_bytes += trace.used_bytes();
    for (const std::string& note : trace.notes())
        run_.notes.push_back(note);
    if (const uint32_t own = images_.process_of(file); own != ProcessImages::kNone) {
        run_.processes[own].own_cost_ns += trace.header().own_cost_ns;
        processes_[own].end_shim_file(context.time(trace.header().opened_ns), trace.name());
    } else {
        for (ProcessBuilder& process : processes_)
            process.end_file();
    }
    note_dropped(run_, trace);
}

// It speaks of two processes.
void RunBuilder::take_waited_for(WaitedFor record, FileContext& context) {
    const auto process_of = [&](uint32_t pid) {
        return images_.find({context.host(), context.pid_namespace(), pid}, context.time(record.first_ns));
    };
    const uint32_t process = process_of(record.pid), peer = process_of(record.peer_pid);
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
void RunBuilder::take_evidence(const Evidence& record, const FileContext& context) {
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

void RunBuilder::finish_processes() {
    for (size_t i = 0; i < processes_.size(); ++i) {
        const model::Process& process = run_.processes[i];
        if (processes_[i].has_evidence() && process.modules.empty() && !images_.began_by_exec(i)) {
            const uint32_t parent = images_.parent_of(i, process.start_ns);
            if (parent != ProcessImages::kNone && parent != i)
                processes_[i].inherit_modules(run_.processes[parent], allowance_);
        }
        processes_[i].finish();
        note_end(run_, process, processes_[i].shim_last_ns());
    }
    remove_interludes();
}

// Records that name another process by its number follow it.
void RunBuilder::remove_interludes() {
    std::vector<uint32_t> numbers; // by the old ones
    uint32_t kept = 0;
    for (uint32_t i = 0; i < processes_.size(); ++i)
        numbers.push_back(images_.is_interlude(i) && !processes_[i].has_evidence() ? ProcessImages::kNone : kept++);
    size_t number = 0;
    std::erase_if(run_.processes, [&](const model::Process&) { return numbers[number++] == ProcessImages::kNone; });
    for (model::Process& process : run_.processes) {
        std::erase_if(process.waited_for, [&](const model::WaitedFor& waited) {
            return numbers[waited.peer_process] == ProcessImages::kNone;
        });
        for (model::WaitedFor& waited : process.waited_for)
            waited.peer_process = numbers[waited.peer_process];
    }
}

// What run.json says, if it says it; else from the first to the last sign of life in the files.
void RunBuilder::find_times() {
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < files_.size(); ++i) {
        const FileContext context = context_of(i);
        begin = std::min(begin, context.time(files_[i].header().opened_ns));
        end = std::max({end, context.time(files_[i].header().opened_ns), context.time(files_[i].header().closed_ns)});
    }
    for (const ProcessBuilder& process : processes_)
        end = std::max(end, process.last_ns());
    for (const HostBuilder& host : hosts_)
        end = std::max(end, host.last_ns());
    if (run_.begin_ns == 0 && begin != UINT64_MAX)
        run_.begin_ns = begin;
    if (run_.end_ns == 0)
        run_.end_ns = std::max(end, run_.begin_ns);
}

model::Run RunBuilder::build() {
    take_facts();
    place_files();
    find_processes();
    for (size_t i = 0; i < files_.size(); ++i)
        take_records(i);
    find_times();
    for (HostBuilder& host : hosts_)
        host.finish();
    finish_processes();
    skipped_.allowance_exhausted = allowance_.exhausted();
    note_unseen_teams(run_);
    note_run(run_, facts_ != nullptr, skipped_);
    return std::move(run_);
}

} // namespace

model::Run build_run(std::vector<TraceReader>& files, const RunFacts* facts) { return RunBuilder(files, facts).build(); }

model::Run build_run(const std::string& directory) {
    const RunDirectory listing = list_run_directory(directory);
    std::vector<std::string> problems;
    std::string problem;
    const auto facts = read_run_json(listing.run_json, problem);
    if (!facts)
        problems.push_back(problem);
    std::vector<TraceReader> files;
    for (const auto* paths : {&listing.process_traces, &listing.node_traces}) // the shims' threads come first
        for (const std::string& path : *paths) {
            try {
                files.emplace_back(path);
            } catch (const NewerFormat&) {
                throw;
            } catch (const Error& error) {
                problems.emplace_back(error.what());
            }
        }
    if (!facts && files.empty())
        throw Error(fmt::format("no file of the run {} can be read: {}", directory, fmt::join(problems, "; ")));
    model::Run run = build_run(files, facts ? &*facts : nullptr);
    run.directory = directory;
    run.notes.insert(run.notes.begin(), problems.begin(), problems.end());
    return run;
}

} // namespace plumb::trace
