#include "reports/text/report.h"

#include "analyses/lines/launch_command.h"
#include "reports/access_listing.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"
#include "reports/words/regions.h"
#include "reports/words/run_summary.h"
#include "reports/text/account.h"
#include "reports/text/canvas.h"
#include "reports/text/events.h"
#include "reports/text/findings.h"
#include "reports/text/memory.h"
#include "reports/text/mpi.h"
#include "reports/text/noise.h"
#include "reports/text/system.h"
#include "reports/words/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kLineLimit = 8, kLibraryLimit = 6, kPlacementLimit = 24, kAccessLimit = 4, kRegionLimit = 12;
constexpr size_t kLeafWidth = 34, kSourceLimit = 24; // characters
constexpr double kSmallestShare = 0.005;

using Rows = std::vector<std::vector<std::string>>;
using Align = Column::Align;

void put_head(TextCanvas& canvas, const Report& report) {
    std::string facts;
    for (const std::string& fact : run_facts(report))
        facts += (facts.empty() ? "" : " · ") + fact;
    canvas.paragraph("plumb", 7, {{headline_of(report.run->command, 240), Ink::strong}});
    canvas.paragraph("", 7, {{facts, Ink::faint}});
    for (const std::string& warning : run_warnings(report))
        canvas.paragraph("", 7, {{warning, Ink::medium}});
    canvas.blank();
    const bool clean = outcome_of(report) == Outcome::nothing_found;
    canvas.paragraph("", 0, {{verdict(report), clean ? Ink::good : Ink::strong}});
}

void put_metrics(TextCanvas& canvas, const Report& report) {
    if (report.metrics.empty())
        return;
    canvas.heading("Metrics");
    size_t name_width = 0, value_width = 0;
    for (const Metric& metric : report.metrics) {
        name_width = std::max(name_width, columns(metric.name));
        value_width = std::max(value_width, columns(format_metric(metric.value, metric.unit)));
    }
    // How a figure came about flows over as many lines as it needs: half a sentence explains nothing.
    for (const Metric& metric : report.metrics) {
        const std::string value = format_metric(metric.value, metric.unit);
        const std::string label = "  " + metric.name + std::string(name_width - columns(metric.name) + 2, ' ') +
                                  std::string(value_width - columns(value), ' ') + value;
        canvas.paragraph(label, name_width + value_width + 6, {{metric.how, Ink::faint}}, Ink::plain);
    }
}

std::string leaf_and_kernel(const HotLine& line) {
    if (line.kernel_fraction >= 0.1 && line.leaf_module == "[kernel]")
        return fmt::format("{} in the kernel: {}", format_fraction(line.kernel_fraction), line.leaf_function);
    std::string text = leaf_text(line);
    if (line.kernel_fraction >= 0.1)
        text += fmt::format("{}{} in the kernel", text.empty() ? "" : ", ",
                            format_fraction(line.kernel_fraction));
    return text;
}

void put_hot_lines(TextCanvas& canvas, const Report& report) {
    size_t leaf_width = 0;
    std::vector<const HotLine*> lines;
    for (const HotLine& line : report.hot_lines)
        if (line.fraction >= kSmallestShare && lines.size() < kLineLimit) {
            lines.push_back(&line);
            leaf_width = std::max(leaf_width, std::min(columns(leaf_and_kernel(line)), kLeafWidth));
        }
    const size_t room =
        static_cast<size_t>(canvas.style().width) - 24 - leaf_width; // share, time and the gaps
    Rows rows;
    for (const HotLine* line : lines)
        rows.push_back({format_fraction(line->fraction), format_seconds(line->seconds),
                        short_frame_text(line->frame, room), leaf_and_kernel(*line)});
    if (rows.empty())
        return;
    canvas.heading("CPU time by source line, " + profile_basis(report));
    canvas.table(2,
                 {{.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 9},
                  {.keep_end = false},
                  {.limit = kLeafWidth, .ink = Ink::faint}},
                 rows);
}

void put_libraries(TextCanvas& canvas, const Report& report) {
    Rows rows;
    for (const LibraryShare& share : report.libraries)
        if (share.fraction >= kSmallestShare && rows.size() < kLibraryLimit)
            rows.push_back({format_fraction(share.fraction), format_seconds(share.seconds), share.module});
    if (rows.empty())
        return;
    canvas.heading("CPU time by program and library");
    canvas.table(
        2, {{.align = Align::right, .limit = 7}, {.align = Align::right, .limit = 9}, {.keep_end = true}},
        rows);
}

void put_accesses(TextCanvas& canvas, const Report& report) {
    if (report.accesses.empty())
        return;
    canvas.heading("Unaligned accesses by source line");
    for (size_t index = 0; index < report.accesses.size() && index < kAccessLimit; index++)
        canvas.paragraph("  ", 2, {{access_text(report.accesses[index])}});
    if (report.accesses.size() > kAccessLimit) {
        canvas.paragraph("", 2, {{fmt::format("and {} more:", report.accesses.size() - kAccessLimit), Ink::faint}});
        canvas.verbatim(4, fmt::format("plumb report {} --align-sites", shell_line({report.run->directory})));
    }
}

void put_regions(TextCanvas& canvas, const Report& report) {
    Rows rows;
    const std::vector<RegionRow> regions = region_table(*report.run);
    for (const RegionRow& row : regions)
        if (rows.size() < kRegionLimit)
            rows.push_back({format_fraction(row.fraction), format_seconds(row.seconds), row.name,
                            fmt::format("entered {} {} by {} {}, longest {}{}",
                                        format_count(static_cast<double>(row.entries)),
                                        row.entries == 1 ? "time" : "times", row.threads,
                                        row.threads == 1 ? "thread" : "threads", format_seconds(row.longest_seconds),
                                        row.open ? fmt::format(", {} never left", row.open) : "")});
    if (rows.empty())
        return;
    canvas.heading("Regions that the program named, share of the run and time in all threads");
    canvas.table(2,
                 {{.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 9},
                  {.keep_end = false},
                  {.limit = 60, .ink = Ink::faint}},
                 rows);
    if (regions.size() > kRegionLimit)
        canvas.paragraph("", 2, {{fmt::format("and {} more", regions.size() - kRegionLimit), Ink::faint}});
}

void put_placement(TextCanvas& canvas, const Report& report) {
    const std::vector<PlacementRow> placements = placement_table(*report.run);
    if (placements.empty())
        return;
    canvas.heading("Who may run where");
    Rows rows;
    for (const PlacementRow& row : placements)
        if (rows.size() < kPlacementLimit)
            rows.push_back({row.process, row.thread, row.cpu, row.memory_node});
    canvas.table(2, {{.limit = 28}, {.limit = 28}, {.limit = 40}, {}}, rows);
    if (placements.size() > kPlacementLimit)
        canvas.paragraph(
            "", 2, {{fmt::format("and {} more threads", placements.size() - kPlacementLimit), Ink::faint}});
}

void put_evidence(TextCanvas& canvas, const Report& report) {
    bool first = true;
    size_t indent = 18;
    for (const model::Evidence& evidence : report.evidence) // sources are short, unless a file was tampered with
        if (evidence.state != model::Evidence::State::ok && evidence.source.size() <= kSourceLimit)
            indent = std::max(indent, evidence.source.size() + 4);
    for (const model::Evidence& evidence : report.evidence) {
        if (evidence.state == model::Evidence::State::ok)
            continue;
        if (first)
            canvas.heading("Evidence that was missing or limited");
        first = false;
        const bool missing = evidence.state == model::Evidence::State::missing;
        canvas.paragraph("  " + evidence.source, indent,
                         {{missing ? "missing: " : "limited: ", missing ? Ink::medium : Ink::plain},
                          {evidence.why.empty() ? "no reason was recorded" : evidence.why}},
                         Ink::plain);
        if (!evidence.enable.empty())
            canvas.paragraph("", indent, {{"to enable: " + evidence.enable, Ink::faint}});
    }
}

void put_foot(TextCanvas& canvas, const Report& report) {
    canvas.heading("Cost of recording");
    const OwnCost& cost = report.own_cost;
    canvas.paragraph(
        "", 2,
        {{fmt::format("{} of {} CPU time ({}), {} on disk, in blocks of all files.", format_fraction(cost.fraction),
                      report.system ? "the used" : "the run's",
                      format_seconds(cost.seconds), format_bytes(static_cast<double>(cost.bytes)))},
         {" " + cost.how, Ink::faint}});
    canvas.blank();
    canvas.paragraph("", 0,
                     {{"Recorded in " + report.run->directory + ". The same with charts:", Ink::faint}});
    canvas.verbatim(
        2, fmt::format("plumb report {} --format html -o report.html", shell_line({report.run->directory})));
}

} // namespace

std::string text_report(const Report& report, const TextStyle& style) {
    TextCanvas canvas(style);
    put_head(canvas, report);
    if (report.noise) {
        put_noise(canvas, report, true);
        put_evidence(canvas, report);
        return canvas.take();
    }
    if (report.system) {
        put_findings(canvas, report);
        put_system(canvas, *report.system, true);
        put_hot_lines(canvas, report);
        put_evidence(canvas, report);
        put_foot(canvas, report);
        return canvas.take();
    }
    put_account(canvas, report);
    put_findings(canvas, report);
    put_metrics(canvas, report);
    put_mpi(canvas, report);
    put_hot_lines(canvas, report);
    put_events(canvas, report);
    put_libraries(canvas, report);
    put_memory(canvas, report);
    put_accesses(canvas, report);
    put_regions(canvas, report);
    put_placement(canvas, report);
    put_evidence(canvas, report);
    put_foot(canvas, report);
    return canvas.take();
}

} // namespace plumb
