#include "reports/text/repetition.h"

#include "reports/text/canvas.h"
#include "reports/text/comparison.h"
#include "support/figures.h"

#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

using repeat::RepeatedCommand;
using Align = Column::Align;

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
