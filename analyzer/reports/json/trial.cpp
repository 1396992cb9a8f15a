#include "reports/json/trial.h"

#include "reports/json/document.h"
#include "reports/words/trial_words.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;
using trial::State;

ordered_json gain_interval(const trial::Decision& decision) {
    return decision.is_known ? ordered_json::array({decision.low, decision.high}) : ordered_json(nullptr);
}

ordered_json gain_json(const std::optional<trial::Measurement>& measured) {
    return measured && measured->decision.pairs > 0 ? ordered_json(measured->decision.gain) : ordered_json(nullptr);
}

ordered_json measurement_json(const trial::Measurement& measured) {
    const trial::Decision& decision = measured.decision;
    if (decision.pairs == 0)
        return nullptr;
    return {{"verdict", verdict_name(decision.verdict)},
            {"gain", decision.gain},
            {"gain_95", gain_interval(decision)},
            {"pairs", decision.pairs},
            {"not_counted", measured.not_counted},
            {"base_wall_seconds", measured.base_wall_s},
            {"wall_seconds", measured.wall_s},
            {"more_cpu", measured.more_cpu},
            {"more_memory", measured.more_memory ? ordered_json(*measured.more_memory) : ordered_json(nullptr)}};
}

ordered_json promise_json(const std::optional<trial::Promise>& promise) {
    if (!promise)
        return nullptr;
    return {
        {"finding", promise->finding}, {"title", promise->title}, {"gain", promise->gain}, {"is_at_most", promise->is_at_most}};
}

ordered_json cure_json(const trial::CureOutcome& one) {
    return {{"id", one.cure.id},
            {"what", one.cure.what},
            {"family", one.cure.family},
            {"state", state_name(one.state)},
            {"why", text_or_null(one.why)},
            {"spoke_for_it", text_or_null(one.cure.why_tried)},
            {"promised", promise_json(one.promise)},
            {"measured", measurement_json(one.measured)},
            {"measured_once_more", one.once_more ? measurement_json(*one.once_more) : ordered_json(nullptr)},
            {"is_doubtful", one.is_doubtful},
            {"command", one.state == State::does_not_apply ? ordered_json(nullptr) : ordered_json(one.line)}};
}

ordered_json ids_json(const trial::Outcome& outcome, const std::vector<size_t>& cures) {
    ordered_json ids = ordered_json::array();
    for (const size_t i : cures)
        ids.push_back(outcome.cures[i].cure.id);
    return ids;
}

std::string dumped(const ordered_json& document, int indent) {
    return document.dump(indent, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

std::string trial_json(const trial::Outcome& outcome) {
    ordered_json cures = ordered_json::array();
    for (const trial::CureOutcome& one : outcome.cures)
        cures.push_back(cure_json(one));
    ordered_json combination = nullptr;
    if (outcome.combination)
        combination = {{"cures", ids_json(outcome, outcome.combination->cures)},
                       {"command", outcome.combination->line},
                       {"failure", text_or_null(outcome.combination->failure)},
                       {"measured", measurement_json(outcome.combination->against_base)},
                       {"measured_beside_the_best", measurement_json(outcome.combination->against_best)}};
    ordered_json best = nullptr;
    if (!outcome.best.empty())
        best = {{"cures", ids_json(outcome, outcome.best)},
                {"command", outcome.best_line},
                {"measured", measurement_json(outcome.best_measured)},
                {"is_confirmed", outcome.best_is_confirmed}};
    return dumped(
        {{"schema", "plumb-trial/1"},
         {"command", outcome.line},
         {"directory", outcome.directory},
         {"machine", outcome.machine},
         {"worth", outcome.rules.worth},
         {"most_pairs", outcome.rules.most_pairs},
         {"first_run_seconds", outcome.first_run_s},
         {"base_runs", outcome.base_runs},
         {"base_wall_seconds", outcome.base_wall_s ? ordered_json{{"median", outcome.base_wall_s->median},
                                                                  {"lower_quartile", outcome.base_wall_s->lower_quartile},
                                                                  {"upper_quartile", outcome.base_wall_s->upper_quartile}}
                                                   : ordered_json(nullptr)},
         {"unusual_base_runs", outcome.unusual_base_runs},
         {"usual_exit_status", outcome.usual_status},
         {"compared_outputs", outcome.compared_outputs},
         {"changing_outputs", outcome.changing_outputs},
         {"stopped", text_or_null(outcome.stopped)},
         {"cures", cures},
         {"combination", combination},
         {"best", best}},
        2);
}

std::string trial_lines(const trial::Outcome& outcome, int64_t unix_s) {
    std::string lines;
    for (const trial::CureOutcome& one : outcome.cures) {
        if ((one.state != State::measured && one.state != State::failed) || one.measured.decision.pairs == 0)
            continue;
        const trial::Decision& decision = one.measured.decision;
        const ordered_json interval = gain_interval(decision);
        lines += dumped({{"schema", "plumb-promise/1"},
                         {"unix_seconds", unix_s},
                         {"machine", outcome.machine},
                         {"program", outcome.program},
                         {"cure", one.cure.id},
                         {"finding", one.promise ? ordered_json(one.promise->finding) : ordered_json(nullptr)},
                         {"promised", one.promise ? ordered_json(one.promise->gain) : ordered_json(nullptr)},
                         {"is_at_most", one.promise ? ordered_json(one.promise->is_at_most) : ordered_json(nullptr)},
                         {"measured", decision.gain},
                         {"low", interval.is_null() ? interval : interval[0]},
                         {"high", interval.is_null() ? interval : interval[1]},
                         {"pairs", decision.pairs},
                         {"once_more", gain_json(one.once_more)},
                         {"verdict", one.state == State::failed ? "failed" : verdict_name(decision.verdict)}},
                        -1);
    }
    return lines;
}

} // namespace plumb
