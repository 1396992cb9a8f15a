#include "reports/html/repetition.h"

#include "reports/html/comparison.h"
#include "reports/html/page_frame.h"
#include "reports/html/simulation_sections.h"
#include "reports/html/variation.h"
#include "reports/words/repetition_words.h"
#include "support/figures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
    if (!repetition.last_errors.empty())
        html.element("p", "The last failed run wrote to stderr:").element("pre", repetition.last_errors);
    html.open("p", {{"class", "muted"}}).text("The runs are in ").element("code", repetition.directory).text(".").close().close();
}

} // namespace

std::string repetition_html(const repeat::Repetition& repetition) {
    const auto put_all = [&](HtmlWriter& html) {
        put_series(html, repetition);
        put_html_variations(html, repetition.commands);
    };
    const auto data = [&] { return variation_chart_data(repetition.commands); };
    if (repetition.comparison)
        return comparison_html(*repetition.comparison, put_all, data);
    HtmlWriter html;
    const std::string title = "Runs of " + repetition.commands.front().program;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_html_document_head(html, title);
    html.open("body").open("main").open("header", {{"class", "run"}}).element("p", "plumb", {{"class", "mark"}}).element("h1", title);
    html.open("ul", {{"class", "facts"}}).element("li", counted(repetition.commands.front().runs.size(), "run counts", "runs count")).close();
    html.close();
    put_all(html);
    html.close();
    put_html_scripts(html, [&] { return embedded_json({{"variation", data()}}); });
    return html.take();
}

} // namespace plumb
