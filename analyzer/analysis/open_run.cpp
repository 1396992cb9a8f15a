#include "analysis/open_run.h"
#include "analyses/time/short_waits.h"
#include "analysis/redact_report.h"
#include "replay/replay.h"
#include "support/error.h"
#include "symbols/resolver.h"
#include "team/team.h"
#include "trace/build_run.h"
#include "trace/file/run_directory.h"

#include <filesystem>
#include <fmt/format.h>

namespace plumb {

namespace {

// What the files of a run are now. Of processes that report on it together all must read the same.
uint64_t state_of_files(const std::string& directory) {
    namespace fs = std::filesystem;
    uint64_t hash = 0;
    const auto add = [&hash](uint64_t number) {
        hash = (hash ^ number) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    };
    const trace::RunDirectory listing = trace::list_run_directory(directory);
    for (const auto* paths : {&listing.process_traces, &listing.node_traces})
        for (const std::string& path : *paths) {
            std::error_code ignored;
            for (const char character : fs::path(path).filename().string())
                add(static_cast<unsigned char>(character));
            add(fs::file_size(path, ignored));
            add(static_cast<uint64_t>(fs::last_write_time(path, ignored).time_since_epoch().count()));
        }
    return hash;
}

model::Run read_run(const std::string& directory) {
    model::Run run = trace::build_run(directory);
    if (run.processes.empty() && !run.measured_noise())
        throw Error(fmt::format(
            "{} holds no recorded process: the program may not have started, or every process was "
            "left out by --include/--exclude; plumb dump {} shows what is there",
            directory, directory));
    return run;
}

// Null: this process works alone. `work` 0: it has nothing to work on, which the others must know.
std::unique_ptr<team::Team> team_of(const AnalysisOptions& options, uint64_t work, std::string& why_alone) {
    if (options.processes < 2)
        return nullptr;
    return team::Team::gather({options.process, options.processes, work}, why_alone);
}

// The team ends with the replay: what comes after it is one process's work.
model::Run replayed_run(const std::string& directory, const AnalysisOptions& options, std::string& why_alone) {
    model::Run run;
    try {
        run = read_run(directory);
    } catch (...) {
        team_of(options, 0, why_alone);
        throw;
    }
    const auto team = team_of(options, state_of_files(directory), why_alone);
    if (!team && options.process > 0)
        return run; // the first process does it all
    replay::replay_mpi(run, {.threads = options.threads, .open = {}, .steps = options.mpi_steps, .team = team.get()});
    return run;
}

symbols::Options symbol_options(const model::Run& run, const AnalysisOptions& options) {
    symbols::Options symbol_options = symbols::options_for(run);
    if (!options.sysroot.empty())
        symbol_options.sysroot = options.sysroot;
    symbol_options.debuginfod = options.debuginfod;
    symbol_options.source_maps = options.source_maps;
    symbol_options.known_paths = options.known_paths;
    return symbol_options;
}

void make_resolvable(OpenedRun& opened, const AnalysisOptions& options) {
    opened.redact = options.redact || opened.run.redacted;
    if (opened.redact)
        forget_arguments(opened.run);
    opened.resolver = symbols::make_resolver(symbol_options(opened.run, options));
}

} // namespace

std::unique_ptr<OpenedRun> open_run(const std::string& directory, const AnalysisOptions& options) {
    auto opened = std::make_unique<OpenedRun>();
    opened->run = replayed_run(directory, options, opened->why_alone);
    restore_short_waits(opened->run);
    make_resolvable(*opened, options);
    return opened;
}

std::unique_ptr<OpenedRun> open_run_alone(const std::string& directory, const AnalysisOptions& options) {
    auto opened = std::make_unique<OpenedRun>();
    opened->run = trace::build_run(directory);
    make_resolvable(*opened, options);
    return opened;
}

void help_open_run(const std::string& directory, const AnalysisOptions& options) {
    try {
        std::string why_alone;
        replayed_run(directory, options, why_alone);
    } catch (const std::exception&) {}
}

} // namespace plumb
