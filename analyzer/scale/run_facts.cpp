#include "scale/run_facts.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

namespace plumb::scale {

namespace {

// From the first process to the end of the last: what plumb does before and behind is no serial part of the program.
double time_of_processes(const model::Run& run) {
    uint64_t begin_ns = std::numeric_limits<uint64_t>::max(), end_ns = 0;
    for (const model::Process& process : run.processes) {
        begin_ns = std::min(begin_ns, process.start_ns);
        end_ns = std::max(end_ns, process.end_ns);
    }
    return static_cast<double>(end_ns > begin_ns ? end_ns - begin_ns : run.wall_ns()) * 1e-9;
}

// The times of the processes that the first one started: it is the shell of copies_command(). Where it is not seen who started
// whom, each copy counts as long as the run.
std::vector<double> times_of_copies(const model::Run& run, size_t copies) {
    std::set<uint32_t> pids;
    for (const model::Process& process : run.processes)
        pids.insert(process.pid);
    const auto shell =
        std::ranges::find_if(run.processes, [&](const model::Process& one) { return !pids.contains(one.parent_pid); });
    std::vector<const model::Process*> started;
    for (const model::Process& process : run.processes)
        if (shell != run.processes.end() && process.parent_pid == shell->pid && process.pid != shell->pid)
            started.push_back(&process);
    std::ranges::sort(started, {}, &model::Process::start_ns);
    std::vector<double> times;
    for (const model::Process* const process : started)
        times.push_back(static_cast<double>(process->end_ns - process->start_ns) * 1e-9);
    if (times.size() != copies)
        times.assign(copies, static_cast<double>(run.wall_ns()) * 1e-9);
    return times;
}

void divide(std::map<std::string, double>& amounts, double by) {
    for (auto& [name, amount] : amounts)
        amount /= by;
}

} // namespace

std::string place_of(const model::SourceFrame& frame) {
    if (frame.function.empty())
        return frame.module;
    if (frame.file.empty())
        return fmt::format("{} in {}", frame.function, frame.module);
    return fmt::format("{} at {}:{}", frame.function, frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

RunFacts facts_of(const Report& report, size_t copies) {
    RunFacts facts;
    facts.time_s = time_of_processes(*report.run);
    facts.cpu_s = report.cpu_seconds;
    for (const HotLine& line : report.hot_lines)
        facts.lines_s[place_of(line.frame)] += line.seconds;
    for (const LibraryShare& library : report.libraries)
        facts.libraries_s[library.module] += library.seconds;
    facts.thread_s = report.account.own_s();
    facts.bandwidth = report.bandwidth;
    std::map<std::string, double> heaviest;
    for (const AccountLine& line : report.account.lines) {
        const std::string name = words_of(line);
        facts.classes_s[name] += line.seconds;
        if (!line.places.empty() && line.places.front().seconds > heaviest[name]) {
            heaviest[name] = line.places.front().seconds;
            facts.class_places[name] = place_of(line.places.front().frame);
        }
    }
    for (const Finding& finding : report.findings)
        facts.findings.push_back({finding.id, finding.title, finding.gain.fraction, finding.where});
    std::ranges::stable_sort(facts.findings, std::greater{}, &NotedFinding::gain);
    for (const model::Process& process : report.run->processes)
        facts.threads = std::max(facts.threads, process.threads.size());
    if (copies > 0) {
        const auto count = static_cast<double>(copies);
        facts.copies_s = times_of_copies(*report.run, copies);
        facts.time_s = std::accumulate(facts.copies_s.begin(), facts.copies_s.end(), 0.0) / count;
        facts.thread_s /= count;
        facts.cpu_s /= count;
        for (std::map<std::string, double>* const amounts : {&facts.classes_s, &facts.lines_s, &facts.libraries_s})
            divide(*amounts, count);
    }
    return facts;
}

} // namespace plumb::scale
