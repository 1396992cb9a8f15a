#include "compare/run_figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

std::string place_of(const model::SourceFrame& frame) {
    if (frame.file.empty())
        return fmt::format("{} in {}", frame.function, frame.module);
    return fmt::format("{} at {}:{}", frame.function, frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

std::string finding_key(const Finding& finding) {
    if (!finding.where.empty() && !finding.where.front().function.empty())
        return fmt::format("{} in {}", finding.id, finding.where.front().function);
    return fmt::format("{}: {} {}", finding.id, finding.subject.kind, finding.subject.name);
}

bool is_work(TimeClass kind) {
    return kind == TimeClass::computing || kind == TimeClass::allocator || kind == TimeClass::kernel;
}

// Where nobody looked at what the wall time depended on: what the thread that ran longest did.
std::map<std::string, WallPart> parts_of_busiest(const model::Run& run, double wall_s) {
    double run_s = 0, delay_s = 0;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            if (static_cast<double>(thread.run_ns) * 1e-9 > run_s) {
                run_s = static_cast<double>(thread.run_ns) * 1e-9;
                delay_s = static_cast<double>(thread.run_delay_ns) * 1e-9;
            }
    run_s = std::min(run_s, wall_s);
    delay_s = std::min(delay_s, wall_s - run_s);
    return {{"its busiest thread runs", {run_s, true}},
            {"its busiest thread waits for a CPU", {delay_s, false}},
            {"its busiest thread is off the CPU, or not there", {wall_s - run_s - delay_s, false}}};
}

std::map<std::string, WallPart> wall_parts_of(const Report& report) {
    std::map<std::string, WallPart> parts;
    for (const AccountLine& line : report.account.wall) {
        WallPart& part = parts[words_of(line)];
        part.seconds += line.seconds;
        part.is_work = is_work(line.kind);
    }
    return parts.empty() ? parts_of_busiest(*report.run, static_cast<double>(report.run->wall_ns()) * 1e-9) : parts;
}

} // namespace

RunFigures figures_of(const Report& report) {
    RunFigures figures;
    figures.program = fmt::to_string(fmt::join(report.run->command, " "));
    figures.wall_s = static_cast<double>(report.run->wall_ns()) * 1e-9;
    figures.cpu_s = report.cpu_seconds;
    figures.wall_parts = wall_parts_of(report);
    figures.conditions = conditions_of(*report.run);
    for (const Metric& metric : report.metrics) {
        figures.metrics[metric.name] = metric.value;
        figures.units[metric.name] = metric.unit;
    }
    for (const HotLine& line : report.hot_lines) {
        figures.lines_s[place_of(line.frame)] += line.seconds;
        figures.functions_s[line.frame.function] += line.seconds;
    }
    for (const LibraryShare& library : report.libraries)
        figures.libraries_s[library.module] += library.seconds;
    for (const Finding& finding : report.findings) {
        ComparedFinding& one = figures.findings[finding_key(finding)];
        one.title = finding.title;
        one.gain += finding.gain.fraction;
        one.severity = std::max(one.severity, finding.severity);
    }
    return figures;
}

} // namespace plumb
