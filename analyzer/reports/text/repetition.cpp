#include "reports/text/repetition.h"

#include "reports/text/canvas.h"
#include "reports/text/comparison.h"
#include "reports/words/quantity.h"
#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

using repeat::RepeatedCommand;
using Align = Column::Align;

constexpr double kLeastShare = 0.03;

std::string format_share(double share) { return fmt::format("{:.0f} %", 100 * share); }

// "3 failed: exit status 1 (2), 139 (1)"
std::string failure_words(const RepeatedCommand& command) {
    std::map<int, size_t> counts;
    for (const repeat::SeriesRun& run : command.failed)
        counts[run.exit_status]++;
    std::string words;
    for (const auto& [status, count] : counts)
        words += fmt::format("{}{}", words.empty() ? "" : ", ", counts.size() == 1 ? std::to_string(status)
                                                                                  : fmt::format("{} ({} times)", status, count));
    return fmt::format("{} not counted: exit status {}", counted(command.failed.size(), "run failed and is", "runs failed and are"), words);
}

void put_command(TextCanvas& canvas, const RepeatedCommand& command) {
    canvas.paragraph(command.set, 8, {{command.program, Ink::strong}});
    canvas.paragraph("", 8, {{fmt::format("{}{}", counted(command.runs.size(), "run counts", "runs count"),
                                          command.failed.empty() ? "" : "; " + failure_words(command))}});
}

std::vector<std::string> spread_row(const std::string& name, const statistics::Spread& spread) {
    return {name,
            format_seconds(spread.median),
            spread.is_known ? fmt::format("{} to {}", format_seconds(spread.low), format_seconds(spread.high)) : "",
            format_seconds(spread.least),
            format_seconds(spread.lower_quartile),
            format_seconds(spread.upper_quartile),
            format_seconds(spread.most),
            "+" + format_fraction(spread.least_to_most())};
}

void put_spreads(TextCanvas& canvas, const std::vector<RepeatedCommand>& commands) {
    std::vector<std::vector<std::string>> rows{{"", "median", "95 %", "least", "quarter", "3 quarters", "most", "spread"}};
    for (const RepeatedCommand& command : commands) {
        const std::string prefix = commands.size() > 1 ? command.set + " " : "";
        if (command.wall_s)
            rows.push_back(spread_row(prefix + "wall", *command.wall_s));
        if (command.cpu_s)
            rows.push_back(spread_row(prefix + "cpu", *command.cpu_s));
    }
    if (rows.size() == 1)
        return;
    canvas.heading("Time");
    std::vector<Column> columns{{.limit = 12}};
    for (size_t column = 1; column < rows[0].size(); ++column)
        columns.push_back({.align = Align::right, .limit = column == 2 ? size_t{20} : size_t{10}});
    canvas.table(2, columns, rows);
}

// "CPU 0: 1.20 s in 8 runs, CPU 1: 2.40 s in 12 runs"
std::string group_words(const repeat::Explanation& explanation) {
    const std::string unit = amount_unit(explanation.condition);
    std::string words;
    for (const repeat::ConditionGroup& group : explanation.groups) {
        std::string value = group.kind;
        if (value.empty())
            value = format_metric(group.least, unit) + (group.most > group.least ? " to " + format_metric(group.most, unit) : "");
        words += fmt::format("{}{}: {} in {}", words.empty() ? "" : ", ", value, format_seconds(group.median_s),
                             counted(group.runs, "run", "runs"));
    }
    return words;
}

std::vector<std::string> share_row(const std::string& name, double share, const repeat::Interval& interval) {
    return {name, format_share(share), fmt::format("{} to {}", format_share(interval.low), format_share(interval.high))};
}

void put_condition(TextCanvas& canvas, const repeat::VariedCondition& condition) {
    const repeat::Explanation& explanation = condition.explanation;
    canvas.paragraph("", 2, {{explanation.condition, Ink::strong}, {" - median work by it: " + group_words(explanation)}});
    for (const std::string& other : explanation.equally)
        canvas.paragraph("", 4, {{other + " differs in the same runs: which of the two it is cannot be said"}});
    if (const std::string advice = condition_advice(explanation.condition); !advice.empty())
        canvas.paragraph("", 4, {{advice}});
}

void put_variation(TextCanvas& canvas, const RepeatedCommand& command, bool is_one_of_several) {
    const repeat::Variation& variation = command.variation;
    if (!variation.is_notable())
        return;
    canvas.heading(fmt::format("Why the runs{} differ: shares of the variance of the wall time", is_one_of_several ? " of " + command.set : ""));
    std::vector<std::vector<std::string>> rows{{"", "share", "95 %"}};
    for (const repeat::VariedCondition& condition : variation.conditions)
        rows.push_back(share_row("work that goes with " + condition.explanation.condition, condition.share, condition.interval));
    for (const repeat::VariedPart& part : variation.parts)
        if (!part.is_work && std::abs(part.share) >= kLeastShare)
            rows.push_back(share_row(part.name, part.share, part.interval));
    rows.push_back({"work, unexplained: it goes with nothing that was recorded", format_share(variation.unexplained), ""});
    canvas.table(2, {{.limit = 64}, {.align = Align::right, .limit = 8}, {.align = Align::right, .limit = 18}}, rows);
    for (const repeat::VariedCondition& condition : variation.conditions)
        put_condition(canvas, condition);
}

} // namespace

std::string repetition_text(const repeat::Repetition& repetition, const TextStyle& style) {
    TextCanvas canvas(style);
    for (const RepeatedCommand& command : repetition.commands)
        put_command(canvas, command);
    canvas.paragraph("in", 8, {{repetition.directory}});
    if (!repetition.stopped.empty())
        canvas.paragraph("ended", 8, {{fmt::format("before all {} of each: {}", counted(repetition.asked, "run", "runs"),
                                                   repetition.stopped), Ink::medium}});
    if (!repetition.last_errors.empty()) {
        canvas.paragraph("", 8, {{"the last failed run wrote to stderr:"}});
        canvas.verbatim(8, repetition.last_errors);
    }
    put_spreads(canvas, repetition.commands);
    for (const RepeatedCommand& command : repetition.commands)
        put_variation(canvas, command, repetition.commands.size() > 1);
    std::string text = canvas.take();
    if (repetition.comparison)
        text += "\n" + comparison_text(*repetition.comparison, style);
    return text;
}

} // namespace plumb
