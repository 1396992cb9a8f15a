#include "reports/html/comparison.h"

#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/comparison_words.h"
#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

constexpr size_t kMostListed = 100; // rows of a table

std::string comparison_title(const Comparison& comparison) { return "Comparison: " + comparison.programs.front(); }

void put_comparison_head(HtmlWriter& html, const Comparison& comparison) {
    html.open("header", {{"class", "run"}}).element("p", "plumb", {{"class", "mark"}});
    html.element("h1", comparison_title(comparison)).open("ul", {{"class", "facts"}});
    html.element("li", "base: " + counted(comparison.base_runs, "run", "runs"));
    html.element("li", "others: " + counted(comparison.other_runs, "run", "runs"));
    if (comparison.is_paired)
        html.element("li", "in turns: each run is compared with the one beside it");
    html.close();
    for (size_t i = 1; i < comparison.programs.size(); ++i)
        html.open("p").text("others: ").element("code", comparison.programs[i]).close();
    if (!comparison.is_known())
        html.element("p", kTooFewRuns, {{"class", "warning"}, {"role", "note"}});
    html.element("p", comparison_verdict(comparison), {{"class", "verdict"}, {"id", "verdict"}});
    html.close();
}

void begin_section(HtmlWriter& html, const char* id, const std::string& title) {
    html.open("section", {{"id", id}}).element("h2", title);
}

void put_figures(HtmlWriter& html, const char* id, const char* title, const std::vector<const ComparedFigure*>& figures) {
    if (figures.empty())
        return;
    begin_section(html, id, title);
    begin_html_table(html, "", {"base", "others", "change", ""});
    for (const ComparedFigure* one : figures)
        put_html_row(html, one->name, {format_metric(one->difference.base_median, one->unit),
                                       format_metric(one->difference.other_median, one->unit), change_words(one->difference),
                                       verdict_words(*one)});
    html.close().close().close();
}

void put_finding_changes(HtmlWriter& html, const Comparison& comparison) {
    if (comparison.findings.empty())
        return;
    begin_section(html, "findings", "Findings");
    begin_html_table(html, "change", {"finding", "base runs", "other runs"}, false);
    for (const FindingChange& one : comparison.findings)
        put_html_row(html, finding_change_words(one.kind),
                     {one.title, std::to_string(one.base_runs), std::to_string(one.other_runs)}, false);
    html.close().close().close();
}

// The first of `all` that are shown.
template <class Range> auto shown_of(const Range& all, bool is_known) {
    std::vector<const typename Range::value_type*> shown;
    for (const auto& one : all)
        if (shown.size() < kMostListed && is_shown(one, is_known))
            shown.push_back(&one);
    return shown;
}

void put_amounts(HtmlWriter& html, const char* id, const char* title, const std::vector<ComparedAmount>& amounts, bool is_known,
                 const std::vector<std::string>& notes = {}) {
    const auto shown = shown_of(amounts, is_known);
    if (shown.empty() && notes.empty())
        return;
    begin_section(html, id, title);
    for (const std::string& note : notes)
        html.element("p", note, {{"class", "muted"}});
    if (shown.empty()) {
        html.element("p", "No line changed for certain.").close();
        return;
    }
    begin_html_table(html, "", {"base", "others", "more"});
    for (const ComparedAmount* one : shown)
        put_html_row(html, one->name, {format_seconds(one->seconds.base_median), format_seconds(one->seconds.other_median),
                                       shift_words(one->seconds)});
    html.close().close().close();
}

void put_sites(HtmlWriter& html, const char* id, const std::string& title, const std::vector<ComparedSite>& sites, bool is_known,
               bool have_seconds) {
    const auto shown = shown_of(sites, is_known);
    if (shown.empty())
        return;
    begin_section(html, id, title);
    std::vector<std::string> titles{"calls", "bytes"};
    if (have_seconds)
        titles.push_back("time");
    begin_html_table(html, "", titles);
    for (const ComparedSite* one : shown) {
        std::vector<std::string> cells{count_change_words(one->calls), bytes_change_words(one->bytes)};
        if (have_seconds)
            cells.push_back(seconds_change_words(one->seconds));
        put_html_row(html, one->name, cells);
    }
    html.close().close().close();
}

void put_flame_graph(HtmlWriter& html, const Comparison& comparison) {
    if (comparison.call_tree.children.empty())
        return;
    begin_section(html, "call-tree", "Time by call path");
    if (kPageScript.empty())
        put_html_no_charts(html);
    else {
        put_html_chart(html, "chart-comparison",
                       "Each box is a function, the callers above; functions are matched by name. Red: more time of threads in "
                       "the others than in the base, blue: less, the stronger the more seconds. Boxes whose change may be chance "
                       "have no colour. Times are means of the runs. Click a box to enlarge it, the top one to go back.");
        put_html_noscript(html);
    }
    html.close();
}

void put_placements(HtmlWriter& html, const Placements& placements) {
    begin_section(html, "placements", "Place in the network");
    html.element("p", placement_verdict(placements));
    begin_html_table(html, "", {"runs", "mean time", "s.d.", placement_links_words(placements), "pieces"});
    for (const auto& [name, side] : {std::pair("base", &placements.base), std::pair("others", &placements.others)})
        put_html_row(html, name, {format_count(static_cast<double>(side->runs)), format_seconds(side->mean_s),
                                  side->deviation_s ? format_seconds(*side->deviation_s) : "-", three_digits(side->mean_links),
                                  pieces_words(*side)});
    html.close().close().close();
}

void put_comparison_sections(HtmlWriter& html, const Comparison& comparison) {
    const bool is_known = comparison.is_known();
    put_figures(html, "time", "Time", {&comparison.wall, &comparison.cpu});
    if (comparison.placements)
        put_placements(html, *comparison.placements);
    put_finding_changes(html, comparison);
    put_flame_graph(html, comparison);
    put_figures(html, "metrics", "Metrics", shown_of(comparison.metrics, is_known));
    put_amounts(html, "lines", "Lines, by CPU time", comparison.lines, is_known, comparison.line_notes);
    put_amounts(html, "functions", "Functions, by CPU time", comparison.functions, is_known);
    put_amounts(html, "libraries", "Libraries, by CPU time", comparison.libraries, is_known);
    put_sites(html, "heap", "Allocations, by line (" + allocations_basis(comparison) + ")", comparison.allocations, is_known,
              false);
    put_sites(html, "mpi", "MPI calls, by line, all ranks", comparison.mpi_sites, is_known, true);
}

} // namespace

std::string comparison_html(const Comparison& comparison, const std::function<void(HtmlWriter&)>& put_more,
                            const std::function<nlohmann::ordered_json()>& variation) {
    HtmlWriter html;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_html_document_head(html, comparison_title(comparison));
    html.open("body").open("main");
    put_comparison_head(html, comparison);
    if (put_more)
        put_more(html);
    put_comparison_sections(html, comparison);
    html.open("footer").text("Compared by plumb compare. Values are medians, intervals are of 95 % confidence.").close();
    html.close();
    put_html_scripts(html, [&] {
        return embedded_json({{"comparison", comparison_chart_data(comparison)}, {"variation", variation ? variation() : nullptr}});
    });
    return html.take();
}

} // namespace plumb
