#include "reports/words/run_summary.h"

#include "model/rank_count.h"
#include "reports/words/noise_words.h"
#include "reports/words/quantity.h"
#include "reports/words/system_words.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>
#include <sys/wait.h>

namespace plumb {

namespace {

constexpr double kShortLivedShare = 0.10;
constexpr uint64_t kEnoughSamples = 100; // shares of fewer are known to 10 % at best
constexpr double kEnoughCpu_s = 0.5;     // below it much of a run is the program's start

constexpr uint64_t kFewSamples = 100;

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string program_of(const model::Process& process) {
    const std::string name = base_name(process.executable.empty() ? process.name : process.executable);
    return name.empty() ? fmt::format("pid {}", process.pid) : name;
}

std::string signal_text(int number) {
    const char* name = sigabbrev_np(number);
    return name ? fmt::format("signal {} (SIG{})", number, name) : fmt::format("signal {}", number);
}

// 128 + N is what shells and plumb make of signal N; a program may also choose such a status itself.
std::string exit_text(int status) {
    const char* name = status > 128 ? sigabbrev_np(status - 128) : nullptr;
    return fmt::format("exit status {}{}", status, name ? fmt::format(" (128 + SIG{})", name) : "");
}

std::string host_fact(const model::Run& run) {
    std::string text = format_seconds(static_cast<double>(run.wall_ns()) * 1e-9);
    if (run.hosts.empty())
        return text;
    const model::Host& first = run.hosts.front();
    text += run.hosts.size() == 1 ? " on " + first.name : fmt::format(" on {} hosts", run.hosts.size());
    if (run.hosts.size() == 1 && first.cpu_count > 0) {
        if (first.allowed_cpus.empty() || first.allowed_cpus.size() == static_cast<size_t>(first.cpu_count))
            text += ", " + counted(static_cast<size_t>(first.cpu_count), "CPU", "CPUs");
        else
            text += fmt::format(", {} of {} CPUs allowed", first.allowed_cpus.size(), first.cpu_count);
    }
    return text;
}

using Condition = bool (*)(const model::Process&);

// What holds for all processes that `applies` to, however many they are; nothing when there are none.
void add_group(std::vector<std::string>& warnings, const model::Run& run, Condition applies,
               const std::string& what) {
    std::map<std::string, size_t> names;
    for (const model::Process& process : run.processes)
        if (applies(process))
            names[program_of(process)]++;
    std::string list;
    size_t shown = 0;
    for (const auto& [name, count] : names) {
        if (shown++ == 4) {
            list += names.size() == 5 ? std::string(" and 1 other") : fmt::format(" and {} others", names.size() - 4);
            break;
        }
        list += fmt::format("{}{}{}", list.empty() ? "" : ", ", name,
                            count > 1 ? fmt::format(" ({}×)", count) : "");
    }
    if (!names.empty())
        warnings.push_back(list + ": " + what);
}

void add_killed(std::vector<std::string>& warnings, const model::Run& run) {
    std::map<std::pair<std::string, int>, size_t> killed;
    for (const model::Process& process : run.processes)
        if (process.wait_status && WIFSIGNALED(*process.wait_status))
            killed[{program_of(process), WTERMSIG(*process.wait_status)}]++;
    for (const auto& [who, count] : killed)
        warnings.push_back(fmt::format("{}{} was killed by {}. The report covers the time until then.",
                                       who.first, count > 1 ? fmt::format(" ({}×)", count) : "",
                                       signal_text(who.second)));
}

// The loader maps preloads before any other library: a program that has some but not the shim was started with another
// LD_PRELOAD than the one it was to inherit, or with none.
bool has_lost_preload(const model::Process& process) {
    if (process.has_shim || process.is_static || process.is_foreign || process.is_privileged ||
        process.samples.empty())
        return false;
    bool has_libraries = false;
    for (const model::Module& module : process.modules) {
        const std::string_view file = std::string_view(module.path).substr(module.path.rfind('/') + 1);
        if (file == "libplumb.so")
            return false;
        has_libraries |= file.starts_with("libc.so") || file.starts_with("libc-");
    }
    return has_libraries;
}

bool is_without_shim(const Report& report) {
    return std::ranges::any_of(report.evidence, [](const model::Evidence& evidence) {
        return evidence.source == "shim" && evidence.state == model::Evidence::State::missing;
    });
}

// "shim" says nothing to who does not know how plumb is built.
std::string source_text(const std::string& source) {
    return source == "shim" ? "shim (the preload in the program: allocations, threads' creation, MPI and OpenMP)" : source;
}

std::string list_of_sources(const Report& report, model::Evidence::State state) {
    std::vector<std::string> names;
    for (const model::Evidence& evidence : report.evidence)
        if (const std::string name = state == model::Evidence::State::missing ? source_text(evidence.source) : evidence.source;
            evidence.state == state && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    return fmt::to_string(fmt::join(names, ", "));
}

} // namespace

std::vector<std::string> run_facts(const Report& report) {
    const model::Run& run = *report.run;
    const size_t ranks = model::rank_count(run);
    size_t threads = 0;
    for (const model::Process& process : run.processes)
        threads += process.threads.size();
    if (report.noise)
        return {host_fact(run), counted(report.noise->cpus.size(), "CPU measured", "CPUs measured"),
                report.noise->quantum_s > 0 ? "quanta of " + format_seconds(report.noise->quantum_s) : "losses of a table"};
    if (report.system) {
        std::string cpus = "CPU " + format_cpu_list(run.hosts.empty() ? model::CpuSet{} : run.hosts.front().allowed_cpus);
        return {format_seconds(report.system->seconds) + (run.hosts.empty() ? "" : " on " + run.hosts.front().name), std::move(cpus),
                counted(run.processes.size(), "process", "processes"), counted(threads, "thread", "threads"),
                report.system->is_sampled ? counted(report.samples, "sample", "samples") : std::string("not sampled")};
    }
    std::vector<std::string> facts = {host_fact(run), counted(run.processes.size(), "process", "processes")};
    if (ranks > 0)
        facts.push_back(counted(ranks, "rank", "ranks"));
    facts.push_back(counted(threads, "thread", "threads"));
    facts.push_back(format_seconds(report.cpu_seconds) + " of CPU time");
    if (run.exit_status)
        facts.push_back(exit_text(*run.exit_status));
    return facts;
}

std::vector<std::string> run_warnings(const Report& report) {
    const model::Run& run = *report.run;
    std::vector<std::string> warnings;
    if (!run.complete)
        warnings.push_back(
            fmt::format("The recording has not ended after {}: the run goes on, or plumb was ended before the program. The report "
                        "covers the time until then.",
                        format_seconds(static_cast<double>(run.wall_ns()) * 1e-9)));
    if (report.noise || report.system) {
        warnings.insert(warnings.end(), run.notes.begin(), run.notes.end());
        return warnings;
    }
    add_killed(warnings, run);
    add_group(
        warnings, run,
        [](const model::Process& process) {
            return process.has_shim && !process.shim_closed &&
                   !(process.wait_status && WIFSIGNALED(*process.wait_status));
        },
        "record not closed (killed, or still running when recording ended). The report covers what was recorded.");
    add_group(
        warnings, run, [](const model::Process& process) { return process.is_static; },
        "statically linked, so recorded from outside only (no allocations, no creation sites of threads).");
    add_group(
        warnings, run, [](const model::Process& process) { return process.is_foreign; },
        "of another architecture or word size, so recorded from outside only.");
    add_group(
        warnings, run, [](const model::Process& process) { return process.is_privileged; },
        "run with raised privileges, where the loader ignores preloads, so recorded from outside only.");
    if (!is_without_shim(report))
        add_group(warnings, run, has_lost_preload,
                  "started without the preload (LD_PRELOAD was replaced or cleared), so recorded from outside only (no "
                  "allocations, no creation sites of threads).");
    if (report.samples == 0)
        warnings.push_back("No time samples were taken, so the lines that used the time are not known.");
    else if (report.samples < kFewSamples)
        warnings.push_back(fmt::format("Only {} taken: the profile below is a rough estimate.",
                                       counted(report.samples, "sample was", "samples were")));
    const double short_lived_s = report.account.seconds_of(TimeClass::short_lived);
    if (short_lived_s > 0 && short_lived_s >= kShortLivedShare * report.account.own_s())
        warnings.push_back(fmt::format("{} of the thread time is in processes that ended before a sample was due: their programs "
                                       "are known, their lines are not.",
                                       format_fraction(short_lived_s / report.account.own_s())));
    warnings.insert(warnings.end(), run.notes.begin(), run.notes.end());
    return warnings;
}

std::string missing_evidence(const Report& report) { return list_of_sources(report, model::Evidence::State::missing); }

std::string profile_basis(const Report& report) {
    return fmt::format("from {} that stand for {} of the {}", counted(report.samples, "sample", "samples"),
                       format_seconds(report.sampled_seconds), format_seconds(report.cpu_seconds));
}

size_t count_of(const Report& report, Severity severity) {
    return static_cast<size_t>(
        std::count_if(report.findings.begin(), report.findings.end(),
                      [&](const Finding& finding) { return finding.severity == severity; }));
}

Outcome outcome_of(const Report& report) {
    if (report.noise)
        return Outcome::measured;
    for (const Severity severity : {Severity::high, Severity::medium, Severity::low})
        if (count_of(report, severity) > 0)
            return Outcome::findings;
    if (report.system)
        return Outcome::measured;
    return report.samples < kEnoughSamples || report.cpu_seconds < kEnoughCpu_s ? Outcome::too_short
                                                                                : Outcome::nothing_found;
}

const char* to_string(Outcome outcome) {
    switch (outcome) {
    case Outcome::findings:
        return "findings";
    case Outcome::nothing_found:
        return "nothing-found";
    case Outcome::measured:
        return "measured";
    case Outcome::too_short:
        break;
    }
    return "too-short";
}

std::string verdict(const Report& report) {
    if (report.noise)
        return noise_verdict(*report.noise);
    if (report.system)
        return system_verdict(*report.system);
    if (outcome_of(report) == Outcome::too_short && report.cpu_seconds >= kEnoughCpu_s)
        return fmt::format("Too few samples to judge: {} of CPU time, {}. Most diagnoses need {} samples, so problems may have "
                           "been missed.",
                           format_seconds(report.cpu_seconds), counted(report.samples, "time sample", "time samples"),
                           kEnoughSamples);
    if (outcome_of(report) == Outcome::too_short)
        return fmt::format("Too short to judge: {} of CPU time, {}. Most diagnoses need {} and {} samples, so problems may "
                           "have been missed.",
                           format_seconds(report.cpu_seconds), counted(report.samples, "time sample", "time samples"),
                           format_seconds(kEnoughCpu_s), kEnoughSamples);
    std::string counts;
    size_t total = 0;
    for (Severity severity : {Severity::high, Severity::medium, Severity::low})
        if (const size_t count = count_of(report, severity)) {
            counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, to_string(severity));
            total += count;
        }
    if (total > 0)
        return fmt::format("{}: {}.", counted(total, "finding", "findings"), counts);
    const std::string seen = list_of_sources(report, model::Evidence::State::ok);
    std::string text = fmt::format(
        "Nothing out of plumb found{}. {} ran on this evidence: {}.", report.run->complete ? "" : " in what was recorded",
        counted(report.looked_for.size(), "diagnosis", "diagnoses"), seen.empty() ? "none" : seen);
    const std::string missing = missing_evidence(report);
    if (!missing.empty())
        text += fmt::format(" Missing evidence: {}.", missing);
    return text;
}

std::vector<std::string> process_labels(const model::Run& run) {
    std::map<std::string, size_t> same_name;
    std::map<std::pair<std::string, uint32_t>, std::set<uint64_t>> namespaces;
    for (const model::Process& process : run.processes) {
        same_name[program_of(process)]++;
        namespaces[{program_of(process), process.pid}].insert(process.pid_namespace);
    }
    std::vector<std::string> labels;
    for (const model::Process& process : run.processes) {
        const std::string name = program_of(process);
        if (process.rank >= 0)
            labels.push_back(fmt::format("rank {}", process.rank));
        else if (namespaces[{name, process.pid}].size() > 1)
            labels.push_back(fmt::format("{} (pid {} of PID namespace {})", name, process.pid, process.pid_namespace));
        else
            labels.push_back(same_name[name] > 1 ? fmt::format("{} (pid {})", name, process.pid) : name);
    }
    return labels;
}

std::vector<PlacementRow> placement_table(const model::Run& run) {
    const std::vector<std::string> labels = process_labels(run);
    std::vector<PlacementRow> rows;
    for (size_t index = 0; index < run.processes.size(); index++) {
        std::vector<const model::Thread*> placed;
        for (const model::Thread& thread : run.processes[index].threads)
            if (thread.placement)
                placed.push_back(&thread);
        std::sort(placed.begin(), placed.end(), [](const model::Thread* left, const model::Thread* right) {
            return left->placement->slot < right->placement->slot;
        });
        for (const model::Thread* thread : placed) {
            const model::Placement& placement = *thread->placement;
            rows.push_back(
                {labels[index],
                 fmt::format("{} ({})", thread->name.empty() ? "thread" : thread->name, thread->tid),
                 placement.cpu >= 0 ? fmt::format("CPU {}", placement.cpu)
                                    : fmt::format("refused: {}", std::strerror(placement.error)),
                 placement.memory_node >= 0 ? fmt::format("memory on node {}", placement.memory_node) : ""});
        }
    }
    return rows;
}

} // namespace plumb
