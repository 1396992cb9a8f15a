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
    std::string text = canvas.take();
    if (repetition.comparison)
        text += "\n" + comparison_text(*repetition.comparison, style);
    return text;
}

} // namespace plumb
