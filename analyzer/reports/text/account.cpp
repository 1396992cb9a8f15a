#include "reports/text/account.h"

#include "reports/words/account_texts.h"
#include "reports/words/quantity.h"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kLines = 8, kShortLines = 6, kPlaces = 2;
constexpr double kSmallestRow = 0.01; // of the account

void put_lines(TextCanvas& canvas, const std::vector<AccountLine>& lines, double all_s, size_t most) {
    std::vector<std::vector<std::string>> rows;
    double shown_s = 0;
    for (const AccountLine& line : lines) {
        if (rows.size() == most || line.seconds < kSmallestRow * all_s)
            continue;
        rows.push_back({format_fraction(line.seconds / all_s), format_seconds(line.seconds), words_of(line),
                        places_text(line, kPlaces)});
        shown_s += line.seconds;
    }
    if (all_s - shown_s >= kSmallestRow * all_s)
        rows.push_back({format_fraction((all_s - shown_s) / all_s), format_seconds(all_s - shown_s), "all else", ""});
    using Align = Column::Align;
    canvas.table(2,
                 {{.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 9},
                  {.limit = 46},
                  {.keep_end = false, .ink = Ink::faint}},
                 rows);
}

} // namespace

void put_account(TextCanvas& canvas, const Report& report) {
    const TimeAccount& account = report.account;
    const double all_s = account.own_s();
    if (all_s <= 0 || account.lines.empty())
        return;
    if (shows_wall(account)) {
        canvas.heading(fmt::format("Wall time, by what it depended on: {}", format_seconds(account.wall_s)));
        put_lines(canvas, account.wall, account.wall_s, kLines);
    }
    canvas.heading(fmt::format("Time of the run: {} of thread time", format_seconds(all_s)));
    put_lines(canvas, account.lines, all_s, kLines);
    if (const std::string besides = left_out_of(account); !besides.empty())
        canvas.paragraph("", 2, {{besides, Ink::faint}});
}

void put_short_account(TextCanvas& canvas, const Report& report) {
    const TimeAccount& account = report.account;
    if (account.own_s() <= 0 || account.lines.empty())
        return;
    const bool wall = shows_wall(account);
    canvas.heading(fmt::format("Time of the run: {} of {} time", format_seconds(wall ? account.wall_s : account.own_s()),
                               wall ? "wall" : "thread"));
    put_lines(canvas, wall ? account.wall : account.lines, wall ? account.wall_s : account.own_s(), kShortLines);
}

} // namespace plumb
