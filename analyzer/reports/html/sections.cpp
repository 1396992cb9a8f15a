// Everything around the findings: the head, the metrics, the charts' places, evidence and cost.
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/words/quantity.h"
#include "reports/words/regions.h"
#include "reports/words/run_summary.h"

#include <fmt/format.h>

namespace plumb {

namespace {

bool is_clean(const Report& report) {
    return outcome_of(report) == Outcome::nothing_found;
}

const char* to_string(model::Evidence::State state) {
    switch (state) {
    case model::Evidence::State::ok:
        return "ok";
    case model::Evidence::State::limited:
        return "limited";
    case model::Evidence::State::missing:
        return "missing";
    }
    return "";
}

} // namespace

void put_html_head(HtmlWriter& html, const Report& report) {
    html.open("header", {{"class", "run"}}).element("p", "plumb", {{"class", "mark"}});
    html.element("h1", headline_of(report.run->command, 400)).open("ul", {{"class", "facts"}});
    for (const std::string& fact : run_facts(report))
        html.element("li", fact);
    html.close();
    for (const std::string& warning : run_warnings(report))
        html.element("p", warning, {{"class", "warning"}, {"role", "note"}});
    html.element("p", verdict(report),
                 {{"class", is_clean(report) ? "verdict clean" : "verdict"}, {"id", "verdict"}});
    html.close();
}

void put_html_metrics(HtmlWriter& html, const Report& report) {
    if (report.metrics.empty())
        return;
    html.open("section", {{"id", "metrics"}}).element("h2", "Metrics").open("table").open("tbody");
    for (const Metric& metric : report.metrics)
        html.open("tr")
            .element("th", metric.name, {{"scope", "row"}})
            .element("td", format_metric(metric.value, metric.unit), {{"class", "number"}})
            .element("td", metric.how, {{"class", "muted"}})
            .close();
    html.close().close().close();
}

void put_html_charts(HtmlWriter& html, const CpuTimeline& timeline) {
    if (timeline.lanes.empty() && timeline.cpus.empty())
        return;
    html.open("section", {{"id", "timeline"}}).element("h2", "Timeline");
    if (kPageScript.empty()) {
        put_html_no_charts(html);
        html.close();
        return;
    }
    std::string left_out;
    if (timeline.lanes_left_out > 0)
        left_out = fmt::format(" {} less busy threads are not shown.",
                               format_count(static_cast<double>(timeline.lanes_left_out)));
    if (!timeline.lanes.empty())
        put_html_chart(html, "chart-threads",
                   "Which CPU each thread was on. Pale: it slept most of the time. Red at the bottom of a lane: the thread was "
                   "runnable but had to wait for a CPU." +
                       left_out);
    left_out.clear();
    if (timeline.cpus_left_out > 0)
        left_out = fmt::format(" {} less busy CPUs are not shown.", timeline.cpus_left_out);
    if (!timeline.cpus.empty())
        put_html_chart(html, "chart-cpus", "How busy each CPU was, and with what." + left_out);
    put_html_noscript(html);
    html.close();
}

void put_html_regions(HtmlWriter& html, const Report& report) {
    const std::vector<RegionRow> rows = region_table(*report.run);
    if (rows.empty())
        return;
    html.open("section", {{"id", "regions"}}).element("h2", "Regions that the program named").open("table").open("thead").open("tr");
    for (const char* title : {"region", "share of the run", "time in all threads", "entries", "threads", "longest", "never left"})
        html.element("th", title, {{"scope", "col"}});
    html.close().close().open("tbody");
    for (const RegionRow& row : rows)
        html.open("tr")
            .element("th", row.name, {{"scope", "row"}})
            .element("td", format_fraction(row.fraction))
            .element("td", format_seconds(row.seconds))
            .element("td", format_count(static_cast<double>(row.entries)))
            .element("td", format_count(static_cast<double>(row.threads)))
            .element("td", format_seconds(row.longest_seconds))
            .element("td", row.open ? format_count(static_cast<double>(row.open)) : "")
            .close();
    html.close().close().close();
}

void put_html_placement(HtmlWriter& html, const Report& report) {
    const std::vector<PlacementRow> rows = placement_table(*report.run);
    if (rows.empty())
        return;
    html.open("section", {{"id", "placement"}})
        .element("h2", "Who may run where")
        .open("table")
        .open("tbody");
    for (const PlacementRow& row : rows)
        html.open("tr")
            .element("th", row.process, {{"scope", "row"}})
            .element("td", row.thread)
            .element("td", row.cpu)
            .element("td", row.memory_node)
            .close();
    html.close().close().close();
}

void put_html_evidence(HtmlWriter& html, const Report& report) {
    if (report.evidence.empty())
        return;
    html.open("section", {{"id", "evidence"}}).element("h2", "Evidence").open("table").open("tbody");
    for (const model::Evidence& evidence : report.evidence) {
        html.open("tr").element("th", evidence.source, {{"scope", "row"}});
        html.element("td", to_string(evidence.state),
                     {{"class", std::string("state ") + to_string(evidence.state)}});
        html.open("td").text(evidence.why);
        if (!evidence.enable.empty())
            html.element("div", "To enable: " + evidence.enable, {{"class", "muted"}});
        html.close().close();
    }
    html.close().close().close();
}

void put_html_foot(HtmlWriter& html, const Report& report) {
    const OwnCost& cost = report.own_cost;
    if (!report.noise) {
        html.open("section", {{"id", "own-cost"}}).element("h2", "Cost of recording").open("p");
        html.element("strong", format_fraction(cost.fraction) + " of " + (report.system ? "the used" : "the run's") + " CPU time");
        html.text(fmt::format(" ({}), {} on disk. ", format_seconds(cost.seconds),
                              format_bytes(static_cast<double>(cost.bytes))));
        html.element("span", cost.how, {{"class", "muted"}}).close().close();
    }
    html.open("footer").text("Recorded in ").element("code", report.run->directory);
    html.text(" by plumb " + report.run->plumb_version + ".").close();
}

void put_html_excerpt(HtmlWriter& html, const SourceExcerpt& excerpt, uint32_t line) {
    if (excerpt.lines.empty())
        return;
    html.open("pre", {{"class", "source"}, {"tabindex", "0"}});
    for (size_t index = 0; index < excerpt.lines.size(); index++) {
        const size_t number = excerpt.first_line + index;
        html.element("span", fmt::format("{:>5}  {}", number, excerpt.lines[index]),
                     {{"class", number == line ? "hit" : "line"}});
        html.trusted("\n"); // text() would make it a blank
    }
    html.close();
}

} // namespace plumb
