// Three passes over each file, so that nothing has to be kept until it can be resolved: which processes there were
// (over all files), then for each file the texts and call-path nodes, then what refers to them.
#include "trace/build_run.h"

#include "model/shared_machine.h"
#include "trace/builders/host_builder.h"
#include "trace/builders/process_builder.h"
#include "trace/file/records.h"
#include "trace/file/run_directory.h"
#include "trace/file/run_json.h"
#include "trace/file_places.h"
#include "trace/process_images.h"
#include "trace/record_dispatch.h"
#include "trace/run_notes.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

class RunBuilder {
  public:
    RunBuilder(std::vector<TraceReader>& files, const RunFacts* facts)
        : files_(files), facts_(facts), allowance_(kBaseAllowanceBytes + kAllowancePerByte * total_stored_bytes(files)) {}

    model::Run build();

  private:
    void take_facts();
    void find_processes();
    void find_times();
    void finish_processes();
    void remove_interludes();

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
};

void RunBuilder::take_facts() {
    run_.complete = facts_ && facts_->finished;
    if (!facts_)
        return;
    run_.command = facts_->command;
    run_.redacted = facts_->redacted;
    run_.of_machine = facts_->of_machine;
    run_.plumb_version = facts_->plumb_version;
    run_.start_unix_ns = facts_->start_unix_ns;
    run_.begin_ns = facts_->begin_ns;
    run_.end_ns = facts_->end_ns;
    run_.exit_status = facts_->exit_status;
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
                                           if (started.empty() && !files_[i].is_of_recorder()) // a shim's file is about one image
                                               started.push_back(record);
                                       },
                                   });
        for (const ProcessSeen& record : seen)
            images_.seen(record, context);
        for (const ProcessStart& record : started)
            images_.started(record, context, i, files_[i].closed());
        if (started.empty() && !files_[i].is_of_recorder()) { // its first record was lost: at least the header tells who wrote it
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
    places_ = place_files(files_, facts_, run_);
    if (run_.start_unix_ns == 0 && !files_.empty())
        run_.start_unix_ns = files_[0].header().opened_unix_ns;
    find_processes();
    RecordDispatch records(run_, images_, processes_, hosts_);
    for (size_t i = 0; i < files_.size(); ++i) {
        FileContext context = context_of(i);
        records.take(files_[i], i, context);
    }
    find_times();
    for (HostBuilder& host : hosts_)
        host.finish();
    finish_processes();
    std::vector<model::Recorder> recorders;
    for (size_t i = 0; i < files_.size(); ++i)
        if (files_[i].is_of_recorder())
            recorders.push_back({places_[i].host, static_cast<uint32_t>(files_[i].header().pid)});
    model::forget_own_among_others(run_, recorders);
    note_unseen_teams(run_);
    Skipped skipped = records.skipped();
    skipped.allowance_exhausted = allowance_.exhausted();
    note_run(run_, facts_ != nullptr, skipped);
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
    if (listing.disk_bytes > 0)
        run.recorded_bytes = listing.disk_bytes;
    run.notes.insert(run.notes.begin(), problems.begin(), problems.end());
    return run;
}

} // namespace plumb::trace
