#include "reports/words/repetition_words.h"

#include "reports/words/quantity.h"
#include "support/figures.h"

#include <cmath>
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

constexpr double kLeastShare = 0.03;

std::string format_share(double share) { return fmt::format("{:.0f} %", 100 * share); }

VariationRow share_row(const std::string& name, double share, const repeat::Interval& interval) {
    return {name, format_share(share), fmt::format("{} to {}", format_share(interval.low), format_share(interval.high))};
}

} // namespace

std::vector<VariationRow> variation_rows(const repeat::Variation& variation) {
    std::vector<VariationRow> rows;
    for (const repeat::VariedCondition& condition : variation.conditions)
        rows.push_back(share_row("work that goes with " + condition.explanation.condition, condition.share, condition.interval));
    for (const repeat::VariedPart& part : variation.parts)
        if (!part.is_work && std::abs(part.share) >= kLeastShare)
            rows.push_back(share_row(part.name, part.share, part.interval));
    rows.push_back({"work, unexplained: it goes with nothing that was recorded", format_share(variation.unexplained), ""});
    return rows;
}

std::string median_work_words(const repeat::Explanation& explanation) {
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
