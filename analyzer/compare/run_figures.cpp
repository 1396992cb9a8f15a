#include "compare/run_figures.h"

#include "compare/source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

std::string finding_key(const Finding& finding) {
    if (!finding.where.empty() && !finding.where.front().function.empty())
        return fmt::format("{} in {}", finding.id, finding.where.front().function);
    return fmt::format("{}: {} {}", finding.id, finding.subject.kind, finding.subject.name);
}

std::map<std::string, std::string> build_ids_of(const model::Run& run) {
    std::map<std::string, std::set<std::string>> ids; // two files of one name are no one build
    for (const model::Process& process : run.processes)
        for (const model::Module& module : process.modules)
            ids[module.path.substr(module.path.rfind('/') + 1)].insert(module.build_id);
    std::map<std::string, std::string> joined;
    for (const auto& [name, of_name] : ids)
        joined[name] = of_name.contains("") ? "" : fmt::to_string(fmt::join(of_name, " "));
    return joined;
}

void add_places(RunFigures& figures, const Report& report, SourceLines& sources) {
    for (const HotLine& line : report.hot_lines)
        figures.lines.push_back({sources.place_of(line.frame), line.seconds});
    for (const HeapLine& line : report.heap_lines)
        figures.allocations.push_back({sources.place_of(line.frame), line.allocations, line.allocated_bytes});
    for (const MpiSummary& job : report.mpi)
        for (const MpiSiteLine& line : job.sites)
            figures.mpi_sites.push_back({sources.place_of(line.frame), line.site->call, static_cast<double>(line.site->calls),
                                         static_cast<double>(line.site->sent_bytes + line.site->received_bytes),
                                         line.site->time_s});
    figures.source_texts = sources.texts();
}

} // namespace

RunFigures figures_of(const Report& report, const std::vector<std::string>& given_sources) {
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
    SourceLines sources(report, given_sources);
    add_places(figures, report, sources);
    figures.allocations_are_exact = report.heap_exact;
    figures.build_ids = build_ids_of(*report.run);
    figures.call_tree = report.call_tree;
    for (const HotLine& line : report.hot_lines)
        figures.functions_s[line.frame.function] += line.seconds;
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
