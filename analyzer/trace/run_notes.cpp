#include "trace/run_notes.h"

#include "model/call_paths.h"

#include <fmt/format.h>
#include <set>
#include <sys/wait.h>

namespace plumb::trace {

namespace {

constexpr size_t kMaxNotes = 24;

double seconds(const model::Run& run, uint64_t time_ns) {
    return time_ns > run.begin_ns ? static_cast<double>(time_ns - run.begin_ns) / 1e9 : 0.0;
}

std::string name_of(const model::Process& process) {
    return process.name.empty() ? fmt::format("process {}", process.pid)
                                : fmt::format("process {} ({})", process.pid, process.name);
}

} // namespace

void note_dropped(model::Run& run, const TraceReader& file) {
    const uint64_t dropped = file.header().dropped_records;
    if (dropped != 0)
        run.notes.push_back(fmt::format("{}: {} record{} did not fit{}: their content is missing", file.name(),
                                        dropped, dropped == 1 ? "" : "s",
                                        file.header().flags & kFull ? " below the size limit" : ""));
}

void note_end(model::Run& run, const model::Process& process, uint64_t shim_last_ns) {
    if (!process.has_shim || process.shim_closed)
        return;
    const std::string last = fmt::format("its last record is from {:.3f} s", seconds(run, shim_last_ns));
    if (process.wait_status && WIFSIGNALED(*process.wait_status))
        run.notes.push_back(
            fmt::format("{} was killed by signal {}: {}", name_of(process), WTERMSIG(*process.wait_status), last));
    else if (run.complete)
        run.notes.push_back(fmt::format("{} did not close its record (it was killed, ended without exit handlers, or still ran "
                                        "when recording ended): {}",
                                        name_of(process), last));
    else
        run.notes.push_back(fmt::format("{} was killed or still runs: {}", name_of(process), last));
}

// A worker begins in code of its runtime.
void note_unseen_teams(model::Run& run) {
    std::set<std::string> seen;
    uint64_t refused = 0;
    for (const model::Process& process : run.processes) {
        if (process.openmp) {
            refused += process.openmp->refused;
            continue;
        }
        for (const model::Thread& thread : process.threads)
            for (const model::Module& module : process.modules)
                if (thread.start_routine >= module.start && thread.start_routine < module.end &&
                    model::is_openmp_module(module.path))
                    seen.insert(module.path.substr(module.path.rfind('/') + 1));
    }
    for (const std::string& runtime : seen)
        run.evidence.push_back({.source = "openmp",
                                .state = model::Evidence::State::missing,
                                .why = fmt::format("no region of the OpenMP runtime {} was seen: it was recorded --without openmp, "
                                                   "or another tool is attached to the runtime",
                                                   runtime),
                                .enable = "record all collectors, with OMP_TOOL_LIBRARIES unset"});
    if (refused != 0)
        run.evidence.push_back({.source = "openmp",
                                .state = model::Evidence::State::limited,
                                .why = fmt::format("{} times there was no room for another region, thread or wait", refused),
                                .enable = "a larger PLUMB_FILE_LIMIT"});
}

void note_run(model::Run& run, bool has_run_json, const Skipped& skipped) {
    if (run.notes.size() > kMaxNotes) {
        const size_t more = run.notes.size() - kMaxNotes;
        run.notes.resize(kMaxNotes);
        run.notes.push_back(fmt::format("{} more notes of this kind are not shown", more));
    }
    if (has_run_json && !run.complete)
        run.notes.push_back(fmt::format("plumb did not finish recording this run (it was killed, or still records): the "
                                        "record ends at {:.3f} s",
                                        seconds(run, run.end_ns)));
    if (run.processes.empty() && !run.measured_noise())
        run.notes.emplace_back("no process was recorded");
    if (skipped.of_unknown_kind != 0)
        run.notes.push_back(fmt::format("{} records of unknown types were skipped: a newer plumb recorded them",
                                        skipped.of_unknown_kind));
    if (skipped.of_unknown_processes != 0)
        run.notes.push_back(fmt::format("{} records belong to unknown processes and were skipped",
                                        skipped.of_unknown_processes));
    if (skipped.allowance_exhausted)
        run.notes.emplace_back("the record repeats itself too often; parts of it were skipped to bound memory");
}

} // namespace plumb::trace
