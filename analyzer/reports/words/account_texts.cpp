#include "reports/words/account_texts.h"

#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kSmallestShare = 0.01, kSmallestPlace = 0.1; // of the account; of a line

} // namespace

std::string places_text(const AccountLine& line, size_t most) {
    std::string text;
    for (size_t index = 0; index < std::min(line.places.size(), most); ++index) {
        const AccountLine::Place& place = line.places[index];
        const double share = place.seconds / line.seconds;
        if (share < kSmallestPlace)
            break;
        const std::string file = place.frame.file.substr(place.frame.file.rfind('/') + 1);
        text += text.empty() ? "" : ", ";
        text += place.frame.line ? fmt::format("{}:{} {}", file, place.frame.line, place.frame.function) : place.frame.function;
        if (share < 0.95)
            text += " " + format_fraction(share);
    }
    return text;
}

bool shows_wall(const TimeAccount& account) {
    if (account.wall_s <= 0 || account.threads.size() < 2)
        return false;
    for (const AccountLine& line : account.lines)
        if (line.kind == TimeClass::blocked && line.seconds >= kSmallestShare * account.own_s())
            return true;
    return account.handed_over_s >= kSmallestShare * account.total_s;
}

std::string left_out_of(const TimeAccount& account) {
    const double all_s = account.own_s();
    std::string text;
    if (account.idle_s >= kSmallestShare * all_s)
        text = fmt::format("not included: {} {} waiting for work ({})", account.idle_threads,
                           account.idle_threads == 1 ? "thread" : "threads", format_seconds(account.idle_s));
    if (account.handed_over_s >= kSmallestShare * all_s)
        text += fmt::format("{}waiting for threads and processes of the run to end ({})",
                            text.empty() ? "not included: " : ", ", format_seconds(account.handed_over_s));
    return text;
}

} // namespace plumb
