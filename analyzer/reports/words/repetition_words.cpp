#include "reports/words/repetition_words.h"

#include "support/figures.h"

#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

std::vector<std::string> spread_cells(const statistics::Spread& spread) {
    return {format_seconds(spread.median),
            spread.is_known ? fmt::format("{} to {}", format_seconds(spread.low), format_seconds(spread.high)) : "",
            format_seconds(spread.least),
            format_seconds(spread.lower_quartile),
            format_seconds(spread.upper_quartile),
            format_seconds(spread.most),
            "+" + format_fraction(spread.least_to_most())};
}

} // namespace

std::string failure_words(const repeat::RepeatedCommand& command) {
    std::map<int, size_t> counts;
    for (const repeat::SeriesRun& run : command.failed)
        counts[run.exit_status]++;
    std::string words;
    for (const auto& [status, count] : counts)
        words += fmt::format("{}{}", words.empty() ? "" : ", ", counts.size() == 1 ? std::to_string(status)
                                                                                  : fmt::format("{} ({} times)", status, count));
    return fmt::format("{} not counted: exit status {}",
                       counted(command.failed.size(), "run failed and is", "runs failed and are"), words);
}

std::vector<std::string> spread_titles() { return {"median", "95 %", "least", "quarter", "3 quarters", "most", "spread"}; }

std::vector<SpreadRow> spread_rows(const std::vector<repeat::RepeatedCommand>& commands) {
    std::vector<SpreadRow> rows;
    for (const repeat::RepeatedCommand& command : commands) {
        const std::string prefix = commands.size() > 1 ? command.set + " " : "";
        if (command.wall_s)
            rows.push_back({prefix + "wall", spread_cells(*command.wall_s)});
        if (command.cpu_s)
            rows.push_back({prefix + "cpu", spread_cells(*command.cpu_s)});
    }
    return rows;
}

} // namespace plumb
