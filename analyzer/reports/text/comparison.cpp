#include "reports/text/comparison.h"

#include "reports/text/canvas.h"
#include "reports/words/comparison_words.h"
#include "reports/words/quantity.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using Align = Column::Align;

constexpr size_t kMostComparedLines = 12, kMostComparedMetrics = 12, kMostComparedFindings = 12;

void put_compared_runs(TextCanvas& canvas, const Comparison& comparison) {
    canvas.paragraph("base", 10,
                     {{fmt::format("{} of {}", counted(comparison.base_runs, "run", "runs"), comparison.programs.front())}});
    if (comparison.programs.size() == 1)
        canvas.paragraph("others", 10, {{fmt::format("{} of the same", counted(comparison.other_runs, "run", "runs"))}});
    else
        canvas.paragraph("others", 10,
                         {{fmt::format("{} of {}", counted(comparison.other_runs, "run", "runs"),
                                       fmt::join(comparison.programs.begin() + 1, comparison.programs.end(), "; "))}});
    if (comparison.is_paired)
        canvas.paragraph("", 10, {{"in turns with the base: each run is compared with the one beside it"}});
    if (!comparison.is_known())
        canvas.paragraph("", 0, {{kTooFewRuns, Ink::medium}});
}

void put_compared_figures(TextCanvas& canvas, const std::vector<const ComparedFigure*>& figures) {
    std::vector<std::vector<std::string>> rows{{"", "base", "others", "change", ""}};
    for (const ComparedFigure* one : figures)
        rows.push_back({one->name, format_metric(one->difference.base_median, one->unit),
                        format_metric(one->difference.other_median, one->unit), change_words(one->difference),
                        verdict_words(*one)});
    canvas.table(2, {{.limit = 34}, {.align = Align::right, .limit = 20}, {.align = Align::right, .limit = 20},
                     {.align = Align::right, .limit = 28}, {.limit = 20}},
                 rows);
}

void put_compared_amounts(TextCanvas& canvas, const char* title, const std::vector<ComparedAmount>& amounts, bool is_known,
                          bool are_places = false) {
    std::vector<std::vector<std::string>> rows{{"", "base", "others", "more"}};
    for (const ComparedAmount& one : amounts)
        if (rows.size() <= kMostComparedLines && is_shown(one, is_known))
            rows.push_back({one.name, format_seconds(one.seconds.base_median), format_seconds(one.seconds.other_median),
                            shift_words(one.seconds)});
    if (rows.size() == 1)
        return;
    canvas.heading(title);
    canvas.table(2, {{.limit = 44, .keep_end = are_places}, {.align = Align::right, .limit = 10},
                     {.align = Align::right, .limit = 10}, {.align = Align::right, .limit = 40}},
                 rows);
}

void put_compared_sites(TextCanvas& canvas, const std::string& title, const std::vector<ComparedSite>& sites, bool is_known,
                        bool have_seconds) {
    std::vector<std::vector<std::string>> rows{{"", "calls", "bytes"}};
    std::vector<Column> columns{{.limit = 44, .keep_end = true}, {.align = Align::right, .limit = 26},
                                {.align = Align::right, .limit = 26}};
    if (have_seconds) {
        rows[0].push_back("time");
        columns = {{.limit = 36, .keep_end = true}, {.align = Align::right, .limit = 20}, {.align = Align::right, .limit = 20},
                   {.align = Align::right, .limit = 20}};
    }
    for (const ComparedSite& one : sites) {
        if (rows.size() > kMostComparedLines || !is_shown(one, is_known))
            continue;
        rows.push_back({one.name, count_change_words(one.calls), bytes_change_words(one.bytes)});
        if (have_seconds)
            rows.back().push_back(seconds_change_words(one.seconds));
    }
    if (rows.size() == 1)
        return;
    canvas.heading(title);
    canvas.table(2, columns, rows);
}

void put_placements(TextCanvas& canvas, const Placements& placements) {
    canvas.heading("Place in the network");
    std::vector<std::vector<std::string>> rows{{"", "runs", "mean time", "s.d.", placement_links_words(placements), "pieces"}};
    for (const auto& [name, side] : {std::pair("base", &placements.base), std::pair("others", &placements.others)})
        rows.push_back({name, format_count(static_cast<double>(side->runs)), format_seconds(side->mean_s),
                        side->deviation_s ? format_seconds(*side->deviation_s) : "-", three_digits(side->mean_links), pieces_words(*side)});
    canvas.table(2, {{.limit = 10}, {.align = Align::right, .limit = 8}, {.align = Align::right, .limit = 12},
                     {.align = Align::right, .limit = 12}, {.align = Align::right, .limit = 26}, {.align = Align::right, .limit = 10}}, rows);
    canvas.paragraph("", 2, {{placement_verdict(placements)}});
}

void put_compared_findings(TextCanvas& canvas, const Comparison& comparison) {
    std::vector<std::vector<std::string>> rows;
    for (const FindingChange& one : comparison.findings)
        if (one.kind != FindingChange::Kind::same && rows.size() < kMostComparedFindings)
            rows.push_back({finding_change_words(one.kind), one.title});
    canvas.heading("Findings");
    const auto same = std::ranges::count(comparison.findings, FindingChange::Kind::same, &FindingChange::kind);
    for (const auto& row : rows)
        canvas.paragraph("  " + row[0], 12, {{row[1]}});
    canvas.paragraph("", 2, {{rows.empty() && same == 0 ? std::string("none in either") :
                              fmt::format("{} in both without a change that is certain",
                                          counted(static_cast<uint64_t>(same), "finding", "findings")), Ink::faint}});
}

} // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
    TextCanvas canvas(style);
    put_compared_runs(canvas, comparison);
    canvas.heading("Time");
    put_compared_figures(canvas, {&comparison.wall, &comparison.cpu});
    if (comparison.is_known())
        canvas.paragraph("", 2,
                         {{fmt::format("In parentheses the interval of 95 %. A change is one where that of 99 %, or of too few runs that of "
                                       "their extreme values, leaves no doubt of it; of times, rates and fractions that of 95 % must also "
                                       "lie beyond {:.1f} %.",
                                       100 * kLeastChangeOfTime), Ink::faint}});
    if (comparison.placements)
        put_placements(canvas, *comparison.placements);
    put_compared_findings(canvas, comparison);
    std::vector<const ComparedFigure*> metrics;
    for (const ComparedFigure& one : comparison.metrics)
        if (metrics.size() < kMostComparedMetrics && is_shown(one, comparison.is_known()))
            metrics.push_back(&one);
    if (!metrics.empty()) {
        canvas.heading("Metrics");
        put_compared_figures(canvas, metrics);
    }
    put_compared_amounts(canvas, "Lines, by CPU time", comparison.lines, comparison.is_known(), true);
    for (const std::string& note : comparison.line_notes)
        canvas.paragraph("", 2, {{note, Ink::faint}});
    put_compared_amounts(canvas, "Functions, by CPU time", comparison.functions, comparison.is_known());
    put_compared_amounts(canvas, "Libraries, by CPU time", comparison.libraries, comparison.is_known());
    put_compared_sites(canvas, "Allocations, by line (" + allocations_basis(comparison) + ")", comparison.allocations,
                       comparison.is_known(), false);
    put_compared_sites(canvas, "MPI calls, by line, all ranks", comparison.mpi_sites, comparison.is_known(), true);
    return canvas.take();
}

} // namespace plumb
