#include "reports/html/repetition.h"

#include "reports/html/comparison.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/repetition_words.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

namespace {

void put_series(HtmlWriter& html, const repeat::Repetition& repetition) {
    html.open("section", {{"id", "series"}}).element("h2", "Runs");
    if (!repetition.stopped.empty())
        html.element("p",
                     fmt::format("Ended before all {} of each: {}", counted(repetition.asked, "run", "runs"), repetition.stopped),
                     {{"class", "warning"}, {"role", "note"}});
    for (const repeat::RepeatedCommand& command : repetition.commands)
        if (!command.failed.empty())
            html.element("p", fmt::format("{}: {}", command.set, failure_words(command)), {{"class", "warning"}, {"role", "note"}});
    begin_html_table(html, "", spread_titles());
    for (const SpreadRow& row : spread_rows(repetition.commands))
        put_html_row(html, row.name, row.cells);
    html.close().close();
    html.open("p", {{"class", "muted"}}).text("The runs are in ").element("code", repetition.directory).text(".").close().close();
}

} // namespace

std::string repetition_html(const repeat::Repetition& repetition) {
    return comparison_html(*repetition.comparison, [&](HtmlWriter& html) { put_series(html, repetition); });
}

} // namespace plumb
