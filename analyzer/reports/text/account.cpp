#include "reports/text/account.h"

#include "reports/words/quantity.h"
#include "reports/words/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kLines = 8, kShortLines = 6, kPlaces = 2;
constexpr double kSmallestShare = 0.01, kSmallestPlace = 0.1; // of the account; of a line

// "solver.c:31 sweep 62 %, flux.c:12 flux 20 %": shares of the line.
std::string places_of(const AccountLine& line) {
    std::string text;
    for (size_t index = 0; index < std::min(line.places.size(), kPlaces); ++index) {
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

void put_lines(TextCanvas& canvas, const std::vector<AccountLine>& lines, double all_s, size_t most) {
    std::vector<std::vector<std::string>> rows;
    double shown_s = 0;
    for (const AccountLine& line : lines) {
        if (rows.size() == most || line.seconds < kSmallestShare * all_s)
            continue;
        rows.push_back({format_fraction(line.seconds / all_s), format_seconds(line.seconds), words_of(line), places_of(line)});
        shown_s += line.seconds;
    }
    if (all_s - shown_s >= kSmallestShare * all_s)
        rows.push_back({format_fraction((all_s - shown_s) / all_s), format_seconds(all_s - shown_s), "all else", ""});
    using Align = Column::Align;
    canvas.table(2,
                 {{.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 9},
                  {.limit = 46},
                  {.keep_end = false, .ink = Ink::faint}},
                 rows);
}

// What the wall time depended on differs from the thread time only where some threads wait for others. Of a single thread
// the exact times say more than the looks.
bool is_worth_showing(const TimeAccount& account) {
    if (account.wall_s <= 0 || account.threads.size() < 2)
        return false;
    for (const AccountLine& line : account.lines)
        if (line.kind == TimeClass::blocked && line.seconds >= kSmallestShare * account.own_s())
            return true;
    return account.handed_over_s >= kSmallestShare * account.total_s;
}

} // namespace

void put_account(TextCanvas& canvas, const Report& report) {
    const TimeAccount& account = report.account;
    const double all_s = account.own_s();
    if (all_s <= 0 || account.lines.empty())
        return;
    if (is_worth_showing(account)) {
        canvas.heading(fmt::format("Wall time, by what it depended on: {}", format_seconds(account.wall_s)));
        put_lines(canvas, account.wall, account.wall_s, kLines);
    }
    canvas.heading(fmt::format("Time of the run: {} of thread time", format_seconds(all_s)));
    put_lines(canvas, account.lines, all_s, kLines);
    std::string besides;
    if (account.idle_s >= kSmallestShare * all_s)
        besides = fmt::format("not included: {} {} waiting for work ({})", account.idle_threads,
                              account.idle_threads == 1 ? "thread" : "threads",
                              format_seconds(account.idle_s));
    if (account.handed_over_s >= kSmallestShare * all_s)
        besides += fmt::format("{}waiting for threads and processes of the run to end ({})",
                               besides.empty() ? "not included: " : ", ", format_seconds(account.handed_over_s));
    if (!besides.empty())
        canvas.paragraph("", 2, {{besides, Ink::faint}});
}

void put_short_account(TextCanvas& canvas, const Report& report) {
    const TimeAccount& account = report.account;
    if (account.own_s() <= 0 || account.lines.empty())
        return;
    const bool wall = is_worth_showing(account);
    canvas.heading(fmt::format("Time of the run: {} of {} time", format_seconds(wall ? account.wall_s : account.own_s()),
                               wall ? "wall" : "thread"));
    put_lines(canvas, wall ? account.wall : account.lines, wall ? account.wall_s : account.own_s(), kShortLines);
}

} // namespace plumb
