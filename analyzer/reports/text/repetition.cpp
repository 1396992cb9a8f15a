#include "reports/text/repetition.h"

#include "reports/text/canvas.h"
#include "reports/text/comparison.h"
#include "reports/words/repetition_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace plumb {

namespace {

using repeat::RepeatedCommand;
using Align = Column::Align;

void put_command(TextCanvas& canvas, const RepeatedCommand& command) {
    canvas.paragraph(command.set, 8, {{command.program, Ink::strong}});
    canvas.paragraph("", 8, {{fmt::format("{}{}", counted(command.runs.size(), "run counts", "runs count"),
                                          command.failed.empty() ? "" : "; " + failure_words(command))}});
}

void put_spreads(TextCanvas& canvas, const std::vector<RepeatedCommand>& commands) {
    std::vector<std::vector<std::string>> rows{{""}};
    std::ranges::copy(spread_titles(), std::back_inserter(rows[0]));
    for (const SpreadRow& row : spread_rows(commands)) {
        rows.push_back({row.name});
        std::ranges::copy(row.cells, std::back_inserter(rows.back()));
    }
    if (rows.size() == 1)
        return;
    canvas.heading("Time");
    std::vector<Column> columns{{.limit = 12}};
    for (size_t column = 1; column < rows[0].size(); ++column)
        columns.push_back({.align = Align::right, .limit = column == 2 ? size_t{20} : size_t{10}});
    canvas.table(2, columns, rows);
}

void put_condition(TextCanvas& canvas, const repeat::VariedCondition& condition) {
    const repeat::Explanation& explanation = condition.explanation;
    canvas.paragraph("", 2, {{explanation.condition, Ink::strong}, {" - median work by it: " + median_work_words(explanation)}});
    for (const std::string& other : explanation.equally)
        canvas.paragraph("", 4, {{other + kSameRuns}});
    if (const std::string advice = condition_advice(explanation.condition); !advice.empty())
        canvas.paragraph("", 4, {{advice}});
}

void put_variation(TextCanvas& canvas, const RepeatedCommand& command, bool is_one_of_several) {
    const repeat::Variation& variation = command.variation;
    if (!variation.is_notable())
        return;
    canvas.heading(fmt::format("Why the runs{} differ: shares of the variance of the wall time", is_one_of_several ? " of " + command.set : ""));
    std::vector<std::vector<std::string>> rows{{"", "share", "95 %"}};
    for (const VariationRow& row : variation_rows(variation))
        rows.push_back({row.name, row.share, row.interval});
    canvas.table(2, {{.limit = 64}, {.align = Align::right, .limit = 8}, {.align = Align::right, .limit = 18}}, rows);
    for (const repeat::VariedCondition& condition : variation.conditions)
        put_condition(canvas, condition);
    for (const std::string& name : variation.only_along_the_order)
        canvas.paragraph("", 2, {{name, Ink::strong}, {kAlongTheOrder}});
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
