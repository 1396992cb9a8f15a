#include "reports/words/comparison_words.h"

#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

std::string percent_more(double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); }

std::string seconds_more(double seconds) { return (seconds < 0 ? "-" : "+") + format_seconds(std::fabs(seconds)); }

} // namespace

std::string change_words(const statistics::Difference& difference) {
    const std::string change = percent_more(difference.ratio) + " %";
    return difference.is_known ? fmt::format("{} ({} to {} %)", change, percent_more(difference.low), percent_more(difference.high))
                               : change;
}

const char* verdict_words(const statistics::Difference& difference) {
    if (!difference.is_known)
        return "";
    if (!difference.is_one())
        return "cannot tell";
    return difference.ratio > 1 ? "more" : "less";
}

std::string shift_words(const statistics::Shift& shift) {
    const std::string more = seconds_more(shift.more);
    return shift.is_known ? fmt::format("{} ({} to {})", more, seconds_more(shift.low), seconds_more(shift.high)) : more;
}

const char* finding_change_words(FindingChange::Kind kind) {
    switch (kind) {
    case FindingChange::Kind::gone:
        return "gone";
    case FindingChange::Kind::added:
        return "new";
    case FindingChange::Kind::smaller:
        return "smaller";
    case FindingChange::Kind::larger:
        return "larger";
    case FindingChange::Kind::same:
        break;
    }
    return "same";
}

} // namespace plumb
