#include "reports/text/probe_watch.h"

#include "reports/text/canvas.h"
#include "reports/words/probe_words.h"
#include "statistics/spread.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

using probe::Suspect;
using Align = Column::Align;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kLabel = 10, kMostSuspects = 12;

// "0.002", "12 %", "1 of 20,000"
std::string chance_words(double chance) {
    if (chance < 1e-6)
        return "below 1 in 1,000,000";
    return chance < 0.01 ? fmt::format("1 in {}", format_count(1 / chance)) : format_fraction(chance);
}

void put_verdict(TextCanvas& canvas, const probe::Watched& watched) {
    const probe::Suspects& found = watched.suspects;
    size_t certain = 0;
    for (const Suspect& suspect : found.suspects) {
        if (suspect.verdict != Suspect::Verdict::slows)
            continue;
        ++certain;
        canvas.paragraph("SLOWS", kLabel,
                         {{fmt::format("When {} {} was busier, {} took longer: {} x in those looks.",
                                       suspect.is_group ? "control group" : "program", suspect.name, suspect.kind,
                                       three_digits(suspect.slowdown)),
                           Ink::high}},
                         Ink::high);
    }
    if (certain == 0)
        canvas.paragraph(
            "verdict", kLabel,
            {{fmt::format("cannot tell who slows the others: of {} between CPU time and slowness in {}, none is beyond "
                          "chance",
                          counted(found.comparisons, "comparison", "comparisons"), counted(found.looks, "look", "looks")),
              Ink::medium}});
    canvas.paragraph(
        "", kLabel,
        {{fmt::format("A program counts if the chance of its correlation is below {}: so that among all comparisons, "
                      "chance alone names one in one series of twenty. Who is equally busy in all looks cannot be found: "
                      "only what varies goes together with something.",
                      found.comparisons ? chance_words(found.needed_chance) : "5 %"),
          Ink::faint}});
}

void put_slowness(TextCanvas& canvas, const probe::Watched& watched) {
    std::map<std::string, std::vector<double>> series;
    for (const probe::Look& look : watched.looks)
        for (const auto& [kind, value] : look.slowness)
            series[kind].push_back(value);
    Rows rows{{"", "median", "least", "most", "most / least"}};
    for (const auto& [kind, values] : series) {
        const statistics::Spread spread = statistics::spread_of(values);
        const bool is_ratio = kind.starts_with("wait");
        const auto words = [&](double value) { return is_ratio ? three_digits(value) + " x" : format_seconds(value * 1e-9); };
        rows.push_back({kind, words(spread.median), words(spread.least), words(spread.most),
                        three_digits(spread.least > 0 ? spread.most / spread.least : 0)});
    }
    if (rows.size() == 1)
        return;
    canvas.heading("How slow the machine was: CPU time of an operation (of a byte read), and wall time by CPU time");
    canvas.table(2, {{.limit = 20}, {.align = Align::right, .limit = 12}, {.align = Align::right, .limit = 12},
                     {.align = Align::right, .limit = 12}, {.align = Align::right, .limit = 12}}, rows);
}

void put_suspects(TextCanvas& canvas, const probe::Suspects& found) {
    if (found.suspects.empty())
        return;
    canvas.heading("Who was busy when it was slow");
    Rows rows{{"", "CPUs", "goes with", "rank correlation", "chance", "slower then", ""}};
    for (const Suspect& suspect : found.suspects) {
        if (rows.size() > kMostSuspects)
            break;
        rows.push_back({(suspect.is_group ? "group " : "") + suspect.name, three_digits(suspect.cpus), suspect.kind,
                        three_digits(suspect.correlation), chance_words(suspect.chance), three_digits(suspect.slowdown) + " x",
                        suspect.verdict == Suspect::Verdict::slows ? "slows" : "cannot tell"});
    }
    canvas.table(2,
                 {{.limit = 24, .keep_end = true},
                  {.align = Align::right, .limit = 6},
                  {.limit = 16},
                  {.align = Align::right, .limit = 16},
                  {.align = Align::right, .limit = 20},
                  {.align = Align::right, .limit = 12},
                  {.limit = 12}},
                 rows);
    if (found.suspects.size() > kMostSuspects)
        canvas.paragraph("", 2,
                         {{fmt::format("and {} more: --format json", found.suspects.size() - kMostSuspects), Ink::faint}});
}

} // namespace

std::string probe_watch_text(const probe::Watched& watched, const TextStyle& style) {
    TextCanvas canvas(style);
    canvas.paragraph("machine", kLabel, {{watched.machine.host, Ink::strong}, {": " + watched.machine.cpu_model}});
    canvas.paragraph(
        "watched", kLabel,
        {{fmt::format("{} of {} in {}, since {}", counted(watched.looks.size(), "look", "looks"),
                      format_seconds(watched.look_s), format_seconds(watched.took_s), format_date(watched.begin_s))}});
    put_verdict(canvas, watched);
    put_slowness(canvas, watched);
    put_suspects(canvas, watched.suspects);
    return canvas.take();
}

} // namespace plumb
