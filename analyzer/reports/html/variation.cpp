#include "reports/html/variation.h"

#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/html/rounded.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/repetition_words.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using repeat::RepeatedCommand;

// What a condition was looked for in: the time on a CPU that was no waiting.
double work_of(const RunFigures& run) {
    double seconds = 0;
    for (const auto& [name, part] : run.wall_parts)
        seconds += part.is_work ? part.seconds : 0;
    return seconds;
}

nlohmann::ordered_json points_of(const RepeatedCommand& command, const std::string& condition) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (size_t i = 0; i < command.figures.size(); ++i) {
        const RunFigures& run = command.figures[i];
        const double work_s = rounded(work_of(run), 1e6);
        if (const auto amount = run.conditions.amounts.find(condition); amount != run.conditions.amounts.end())
            points.push_back(nlohmann::ordered_json::array({i + 1, amount->second, work_s}));
        else if (const auto kind = run.conditions.kinds.find(condition); kind != run.conditions.kinds.end())
            points.push_back(nlohmann::ordered_json::array({i + 1, kind->second, work_s}));
    }
    return points;
}

void put_html_condition(HtmlWriter& html, const repeat::VariedCondition& condition, size_t chart) {
    const repeat::Explanation& explanation = condition.explanation;
    html.element("h3", explanation.condition);
    html.element("p", "Median work by it: " + median_work_words(explanation) + ".");
    for (const std::string& other : explanation.equally)
        html.element("p", other + kSameRuns + ".");
    if (const std::string advice = condition_advice(explanation.condition); !advice.empty())
        html.element("p", advice + ".");
    if (kPageScript.empty())
        return;
    put_html_chart(html, fmt::format("chart-variation-{}", chart).c_str(), "Each dot is a run: its time of work by this condition.");
}

} // namespace

void put_html_variations(HtmlWriter& html, const std::vector<RepeatedCommand>& commands) {
    size_t charts = 0;
    for (const RepeatedCommand& command : commands) {
        const repeat::Variation& variation = command.variation;
        if (!variation.is_notable())
            continue;
        html.open("section", {{"id", "variation-" + command.set}});
        html.element("h2", commands.size() > 1 ? fmt::format("Why the runs of {} differ", command.set) : "Why the runs differ");
        html.element("p", "Shares of the variance of the wall time.", {{"class", "muted"}});
        begin_html_table(html, "", {"share", "95 %"});
        for (const VariationRow& row : variation_rows(variation))
            put_html_row(html, row.name, {row.share, row.interval});
        html.close().close();
        for (const repeat::VariedCondition& condition : variation.conditions)
            put_html_condition(html, condition, charts++);
        for (const std::string& name : variation.only_along_the_order)
            html.element("p", name + kAlongTheOrder + ".");
        html.close();
    }
    if (charts > 0)
        kPageScript.empty() ? put_html_no_charts(html) : put_html_noscript(html);
}

nlohmann::ordered_json variation_chart_data(const std::vector<RepeatedCommand>& commands) {
    nlohmann::ordered_json charts = nlohmann::ordered_json::array();
    for (const RepeatedCommand& command : commands)
        if (command.variation.is_notable())
            for (const repeat::VariedCondition& condition : command.variation.conditions)
                charts.push_back({{"name", condition.explanation.condition},
                                  {"unit", amount_unit(condition.explanation.condition)},
                                  {"runs", points_of(command, condition.explanation.condition)}});
    return charts.empty() ? nlohmann::ordered_json(nullptr) : charts;
}

} // namespace plumb
