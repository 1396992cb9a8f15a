#include "reports/json/repetition.h"

#include "reports/json/comparison.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;

ordered_json spread_json(const std::optional<statistics::Spread>& spread) {
    if (!spread)
        return nullptr;
    return {{"median", spread->median},
            {"median_95", spread->is_known ? ordered_json::array({spread->low, spread->high}) : ordered_json(nullptr)},
            {"least", spread->least},
            {"lower_quartile", spread->lower_quartile},
            {"upper_quartile", spread->upper_quartile},
            {"most", spread->most}};
}

ordered_json interval_json(const repeat::Interval& interval) { return {interval.low, interval.high}; }

ordered_json condition_json(const repeat::VariedCondition& condition) {
    const repeat::Explanation& explanation = condition.explanation;
    ordered_json groups = ordered_json::array();
    for (const repeat::ConditionGroup& group : explanation.groups) {
        ordered_json one = {{"runs", group.runs}, {"median_work_seconds", group.median_s}};
        if (group.kind.empty())
            one["from_to"] = {group.least, group.most};
        else
            one["value"] = group.kind;
        groups.push_back(std::move(one));
    }
    return {{"name", explanation.condition},
            {"variance_fraction", condition.share},
            {"variance_fraction_95", interval_json(condition.interval)},
            {"work_variance_fraction", explanation.fraction},
            {"chance", explanation.probability},
            {"unit", amount_unit(explanation.condition)},
            {"groups", groups},
            {"equally", explanation.equally},
            {"advice", condition_advice(explanation.condition)}};
}

ordered_json variation_json(const repeat::Variation& variation) {
    ordered_json parts = ordered_json::array(), conditions = ordered_json::array();
    for (const repeat::VariedPart& part : variation.parts)
        parts.push_back({{"name", part.name},
                         {"is_work", part.is_work},
                         {"variance_fraction", part.share},
                         {"variance_fraction_95", interval_json(part.interval)},
                         {"least_seconds", part.least_s},
                         {"most_seconds", part.most_s}});
    for (const repeat::VariedCondition& condition : variation.conditions)
        conditions.push_back(condition_json(condition));
    return {{"id", "run-variation"},
            {"spread_fraction", variation.spread},
            {"is_known", variation.is_known()},
            {"parts", parts},
            {"conditions", conditions},
            {"only_along_the_order", variation.only_along_the_order},
            {"unexplained_fraction", variation.unexplained}};
}

ordered_json met_json(const RunConditions& conditions) {
    ordered_json met = ordered_json::array();
    for (const auto& [name, kind] : conditions.kinds)
        met.push_back({{"name", name}, {"value", kind}});
    for (const auto& [name, amount] : conditions.amounts)
        met.push_back({{"name", name}, {"amount", amount}, {"unit", amount_unit(name)}});
    return met;
}

ordered_json command_json(const repeat::RepeatedCommand& command) {
    ordered_json runs = ordered_json::array(), failed = ordered_json::array();
    for (size_t i = 0; i < command.runs.size(); ++i)
        runs.push_back({{"directory", command.runs[i].directory},
                        {"round", command.runs[i].round},
                        {"exit_status", command.runs[i].exit_status},
                        {"wall_seconds", command.figures[i].wall_s},
                        {"cpu_seconds", command.figures[i].cpu_s},
                        {"conditions", met_json(command.figures[i].conditions)}});
    for (const repeat::SeriesRun& run : command.failed)
        failed.push_back({{"directory", run.directory}, {"round", run.round}, {"exit_status", run.exit_status}});
    return {{"set", command.set},
            {"program", command.program},
            {"runs", runs},
            {"failed", failed},
            {"wall_seconds", spread_json(command.wall_s)},
            {"cpu_seconds", spread_json(command.cpu_s)},
            {"variation", variation_json(command.variation)}};
}

} // namespace

std::string repetition_json(const repeat::Repetition& repetition) {
    ordered_json commands = ordered_json::array();
    for (const repeat::RepeatedCommand& command : repetition.commands)
        commands.push_back(command_json(command));
    const ordered_json document{
        {"schema", "plumb-repetition/1"},
        {"directory", repetition.directory},
        {"asked_runs", repetition.asked},
        {"stopped", repetition.stopped.empty() ? ordered_json(nullptr) : ordered_json(repetition.stopped)},
        {"commands", commands},
        {"comparison", repetition.comparison ? comparison_document(*repetition.comparison) : ordered_json(nullptr)}};
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
