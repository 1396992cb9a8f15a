// Where the time of the run went, before anything else: bars and their lines, which need no script.
#include "reports/html/page_assets.h"
#include "reports/html/sections.h"
#include "reports/words/account_texts.h"
#include "reports/words/quantity.h"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kSmallestPart = 0.005; // of the account: what has a line of its own
constexpr size_t kLines = 12, kPlaces = 3;

struct Part {
    std::string words, places;
    const char* kind; // of its colour in style.css
    double seconds = 0;
};

std::vector<Part> parts_of(const std::vector<AccountLine>& lines, double all_s) {
    std::vector<Part> parts;
    double rest_s = all_s;
    for (const AccountLine& line : lines) {
        if (parts.size() == kLines || line.seconds < kSmallestPart * all_s)
            continue;
        parts.push_back({words_of(line), places_text(line, kPlaces), to_string(line.kind), line.seconds});
        rest_s -= line.seconds;
    }
    if (rest_s >= kSmallestPart * all_s)
        parts.push_back({"all else", "", "unknown", rest_s});
    return parts;
}

void put_bar(HtmlWriter& html, const std::vector<Part>& parts, double all_s) {
    html.open("div", {{"class", "account-bar"}, {"aria-hidden", "true"}});
    for (const Part& part : parts)
        html.element("span", "",
                     {{"class", std::string("kind-") + part.kind},
                      {"style", fmt::format("flex-grow:{:.4f}", part.seconds / all_s)},
                      {"title", fmt::format("{}: {}, {}", part.words, format_fraction(part.seconds / all_s),
                                            format_seconds(part.seconds))}});
    html.close();
}

void put_lines(HtmlWriter& html, const std::vector<Part>& parts, double all_s) {
    html.open("table", {{"class", "account-lines"}}).open("tbody");
    for (const Part& part : parts)
        html.open("tr")
            .element("td", format_fraction(part.seconds / all_s), {{"class", "number"}})
            .element("td", format_seconds(part.seconds), {{"class", "number"}})
            .open("th", {{"scope", "row"}})
            .element("i", "", {{"class", std::string("kind-") + part.kind}})
            .text(part.words)
            .close()
            .element("td", part.places, {{"class", "muted"}})
            .close();
    html.close().close();
}

void put_account_of(HtmlWriter& html, const std::string& title, const std::vector<AccountLine>& lines, double all_s) {
    const std::vector<Part> parts = parts_of(lines, all_s);
    html.element("h3", title);
    put_bar(html, parts, all_s);
    put_lines(html, parts, all_s);
}

} // namespace

void put_html_account(HtmlWriter& html, const Report& report) {
    const TimeAccount& account = report.account;
    const double all_s = account.own_s();
    if (all_s <= 0 || account.lines.empty())
        return;
    html.open("section", {{"id", "account"}}).element("h2", "Where the time went");
    if (shows_wall(account))
        put_account_of(html, fmt::format("Wall time, by what it depended on: {}", format_seconds(account.wall_s)), account.wall,
                       account.wall_s);
    put_account_of(html, fmt::format("Time of all threads: {}", format_seconds(all_s)), account.lines, all_s);
    if (const std::string besides = left_out_of(account); !besides.empty())
        html.element("p", besides, {{"class", "muted"}});
    if (!kPageScript.empty() && account.threads.size() > 1)
        put_html_chart(html, "chart-account-threads",
                  "What each thread did in its life: on a CPU, waiting for one, blocked. Those with the most CPU time first.");
    html.close();
}

void put_html_call_tree(HtmlWriter& html, const Report& report) {
    if (kPageScript.empty() || report.call_tree.children.empty())
        return;
    html.open("section", {{"id", "call-tree"}}).element("h2", "Time by call path");
    put_html_chart(html, "chart-call-tree",
              "Each box is a function, as wide as the time of its threads in it and in what it called, the callers above. "
              "Time without a CPU is not in it. Click a box to enlarge it, the top one to go back.");
    html.close();
}

} // namespace plumb
