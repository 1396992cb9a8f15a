// Unaligned accesses by line, as a table.
#include "diagnoses/common/access_words.h"
#include "reports/access_listing.h"
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"

namespace plumb {

namespace {

constexpr size_t kRowLimit = 200; // the page stays small however many instructions there were

void put_row(HtmlWriter& html, const AccessLine& line) {
    html.open("tr").open("td").element("code", frame_text(line.frame));
    if (const std::string called = line.called_code(); !called.empty())
        html.element("div", "in " + called, {{"class", "muted leaf"}});
    html.close();
    html.element("td", access_words(line.kind));
    html.open("td");
    if (line.objects.empty())
        html.text(object_words({}));
    for (const AccessObject& object : line.objects) {
        html.element("div", object_words(object.data));
        if (!object.cause.why.empty())
            html.element("div", object.cause.why, {{"class", "muted"}});
    }
    html.close();
    html.element("td", access_count_text(line), {{"class", "number"}});
    html.element("td", crossings_text(line));
    html.element("td", access_cost_text(line), {{"class", "number"}}).close();
}

} // namespace

void put_html_accesses(HtmlWriter& html, const Report& report) {
    if (report.accesses.empty())
        return;
    html.open("section", {{"id", "accesses"}}).element("h2", "Unaligned accesses by source line");
    html.element("p",
                 "By cost: this machine's measured penalties times the number of accesses, and never more than the sampled "
                 "time of the line.",
                 {{"class", "muted"}});
    html.open("table", {{"class", "wide"}}).open("thead").open("tr");
    for (const char* head : {"Your line", "Access", "Data", "Times", "Crossing", "Cost"})
        html.element("th", head, {{"scope", "col"}});
    html.close().close().open("tbody");
    for (size_t index = 0; index < report.accesses.size() && index < kRowLimit; index++)
        put_row(html, report.accesses[index]);
    html.close().close();
    if (report.accesses.size() > kRowLimit)
        html.element("p", "and " + format_count(static_cast<double>(report.accesses.size() - kRowLimit)) + " more",
                     {{"class", "muted"}});
    html.close();
}

} // namespace plumb
