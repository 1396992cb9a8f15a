#include "compare/run_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

std::string finding_key(const Finding& finding) {
    if (!finding.where.empty() && !finding.where.front().function.empty())
        return fmt::format("{} in {}", finding.id, finding.where.front().function);
    return fmt::format("{}: {} {}", finding.id, finding.subject.kind, finding.subject.name);
}

} // namespace

std::string place_of(const model::SourceFrame& frame) {
    if (frame.function.empty())
        return frame.module;
    if (frame.file.empty())
        return fmt::format("{} in {}", frame.function, frame.module);
    return fmt::format("{} at {}:{}", frame.function, frame.file.substr(frame.file.rfind('/') + 1), frame.line);
}

RunFigures figures_of(const Report& report) {
    RunFigures figures;
    figures.program = fmt::to_string(fmt::join(report.run->command, " "));
    figures.wall_s = static_cast<double>(report.run->wall_ns()) * 1e-9;
    figures.cpu_s = report.cpu_seconds;
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
