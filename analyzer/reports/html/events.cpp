// Sampled events: a table for each.
#include "reports/html/sections.h"
#include "reports/words/event_words.h"
#include "reports/words/line_texts.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostEventThreads = 40, kMostEventRegions = 40;

} // namespace

void put_html_events(HtmlWriter& html, const Report& report) {
    size_t number = 0;
    for (const SampledEventRow& row : report.sampled_events) {
        if (row.samples < kLeastEventSamples)
            continue;
        html.open("section", {{"id", fmt::format("events-{}", ++number)}}).element("h2", event_title(row)).open("table").open("tbody");
        const auto put_row = [&](double share, const std::string& place) {
            html.open("tr").element("td", format_fraction(share), {{"class", "number"}}).element("td", place).close();
        };
        for (const Location& line : row.lines)
            put_row(line.share, location_text(line));
        if (row.unplaced_fraction > 0)
            put_row(row.unplaced_fraction, "in libraries of the system");
        html.close().close();
        if (const std::string threads = event_threads(row, kMostEventThreads); !threads.empty())
            html.element("p", threads, {{"class", "muted"}});
        if (const std::string regions = event_regions(row, kMostEventRegions); !regions.empty())
            html.element("p", regions, {{"class", "muted"}});
        html.close();
    }
}

} // namespace plumb
