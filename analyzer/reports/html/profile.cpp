// Where the time and the memory went: source lines, libraries, allocation sites.
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"
#include "reports/words/run_summary.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kSmallestLine = 0.005;
constexpr size_t kProfileContext = 3;

void put_share(HtmlWriter& html, double fraction) {
    html.open("td", {{"class", "share"}})
        .element(
            "span", "",
            {{"class", "bar"}, {"style", fmt::format("width:{:.1f}%", std::clamp(fraction, 0.0, 1.0) * 100)}})
        .element("span", format_fraction(fraction), {{"class", "value"}})
        .close();
}

struct ColumnHead {
    const char* name;
    const char* style = ""; // class of its cells
};

void put_column_heads(HtmlWriter& html, std::initializer_list<ColumnHead> heads) {
    html.open("thead").open("tr");
    for (const ColumnHead& head : heads)
        html.element("th", head.name, {{"scope", "col"}, {"class", head.style}});
    html.close().close();
}

void put_place(HtmlWriter& html, const HotLine& line, SourceFiles& sources, bool unfolded) {
    const SourceExcerpt excerpt = sources.excerpt(line.frame.file, line.frame.line, kProfileContext);
    html.open("td");
    if (excerpt.lines.empty()) {
        html.element("code", frame_text(line.frame));
    } else {
        (unfolded ? html.open("details", {{"open", ""}}) : html.open("details"))
            .open("summary")
            .element("code", frame_text(line.frame))
            .close();
        put_html_excerpt(html, excerpt, line.frame.line);
        html.close();
    }
    html.close();
}

} // namespace

void put_html_hot_lines(HtmlWriter& html, const Report& report, SourceFiles& sources) {
    if (report.hot_lines.empty())
        return;
    html.open("section", {{"id", "lines"}}).element("h2", "CPU time by source line");
    html.element("p",
                 "By the line of your own code that was running, or that had called the running code, " +
                     profile_basis(report) + ".",
                 {{"class", "muted"}});
    html.open("table", {{"class", "wide"}});
    put_column_heads(html, {{"Share", "share"},
                            {"Time", "number"},
                            {"Your line"},
                            {"Instructions", "leaf"},
                            {"Kernel", "number"}});
    html.open("tbody");
    for (const HotLine& line : report.hot_lines) {
        if (line.fraction < kSmallestLine)
            break;
        html.open("tr");
        put_share(html, line.fraction);
        html.element("td", format_seconds(line.seconds), {{"class", "number"}});
        put_place(html, line, sources, &line == &report.hot_lines.front());
        html.element("td", leaf_text(line), {{"class", "muted leaf"}});
        html.element("td", line.kernel_fraction >= 0.005 ? format_fraction(line.kernel_fraction) : "",
                     {{"class", "number"}});
        html.close();
    }
    html.close().close().close();
}

void put_html_libraries(HtmlWriter& html, const Report& report) {
    if (report.libraries.empty())
        return;
    html.open("section", {{"id", "libraries"}})
        .element("h2", "CPU time by program and library")
        .open("table");
    put_column_heads(html, {{"Share", "share"}, {"Time", "number"}, {"Program or library"}});
    html.open("tbody");
    for (const LibraryShare& share : report.libraries) {
        if (share.fraction < kSmallestLine)
            break;
        html.open("tr");
        put_share(html, share.fraction);
        html.element("td", format_seconds(share.seconds), {{"class", "number"}});
        html.open("td").element("code", share.module).close().close();
    }
    html.close().close().close();
}

void put_html_heap(HtmlWriter& html, const Report& report) {
    if (report.heap_lines.empty())
        return;
    html.open("section", {{"id", "heap"}}).element("h2", "Allocations by source line");
    html.element("p",
                 report.heap_exact
                     ? "Every allocation was recorded."
                     : "Estimated from sampled allocations. The totals in the metrics are exact.",
                 {{"class", "muted"}});
    html.open("table", {{"class", "wide"}});
    put_column_heads(html, {{"Allocated", "number"},
                            {"Allocations", "number"},
                            {"Live at peak", "number"},
                            {"Not freed", "number"},
                            {"Your line"}});
    html.open("tbody");
    for (const HeapLine& line : report.heap_lines)
        html.open("tr")
            .element("td", format_bytes(line.allocated_bytes), {{"class", "number"}})
            .element("td", format_count(line.allocations), {{"class", "number"}})
            .element("td", format_bytes(line.peak_live_bytes), {{"class", "number"}})
            .element("td", format_bytes(line.unfreed_bytes), {{"class", "number"}})
            .open("td")
            .element("code", frame_text(line.frame))
            .close()
            .close();
    html.close().close().close();
}

} // namespace plumb
