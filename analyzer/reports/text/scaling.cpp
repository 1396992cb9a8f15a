#include "reports/text/scaling.h"

#include "reports/text/canvas.h"
#include "reports/words/comparison_words.h"
#include "reports/words/scaling_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

using namespace scale;
using Align = Column::Align;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostGrown = 8, kMostNewFindings = 6;

std::string interval_words(const statistics::Spread& spread) {
    return spread.is_known ? fmt::format("{} to {}", format_seconds(spread.low), format_seconds(spread.high)) : "";
}

std::string ratio_words(const statistics::Difference& difference) {
    const std::string ratio = three_digits(difference.ratio);
    return difference.is_known && difference.low != difference.high
               ? fmt::format("{} ({} to {})", ratio, three_digits(difference.low), three_digits(difference.high))
               : ratio;
}

// Times as often as at first: more is better.
std::string speed_up_words(const ScalePoint& point) {
    const statistics::Difference& to_first = point.to_first;
    const double scale = point.speed_up * to_first.ratio; // of copies, so many times the work
    return to_first.is_known && to_first.low != to_first.high
               ? fmt::format("{} ({} to {})", three_digits(point.speed_up), three_digits(scale / to_first.high),
                             three_digits(scale / to_first.low))
               : three_digits(point.speed_up);
}

std::string count_words(const ScalePoint& point) {
    return point.failed.empty() ? std::to_string(point.runs.size())
                                : fmt::format("{}, {} failed", point.runs.size(), point.failed.size());
}

std::string mark_of(const Scaling& scaling, size_t index) {
    if (scaling.best == index)
        return "best";
    return std::ranges::find(scaling.alike, index) != scaling.alike.end() ? "cannot tell" : "";
}

void put_curve(TextCanvas& canvas, const Scaling& scaling) {
    const bool copies = scaling.axis == Axis::copies, size = scaling.axis == Axis::size;
    canvas.heading(copies ? "Time of a copy" : "Time");
    Rows rows{{name_of(scaling.axis), "runs", "median", "95 %"}};
    std::vector<Column> columns{{.align = Align::right, .limit = 12}, {.align = Align::right, .limit = 12},
                                {.align = Align::right, .limit = 10}, {.align = Align::right, .limit = 20}};
    for (const char* const name : copies ? std::vector<const char*>{"slowest", "times as long", "work a second"}
                                  : size ? std::vector<const char*>{"times as long"}
                                         : std::vector<const char*>{"speed-up", "efficiency"}) {
        rows[0].emplace_back(name);
        columns.push_back({.align = Align::right, .limit = 22});
    }
    if (!size) {
        rows[0].emplace_back();
        columns.push_back({.limit = 12});
    }
    for (size_t index = 0; index < scaling.points.size(); ++index) {
        const ScalePoint& point = scaling.points[index];
        std::vector<std::string> row{point.at.text, count_words(point)};
        if (point.time_s) {
            row.insert(row.end(), {format_seconds(point.time_s->median), interval_words(*point.time_s)});
            if (copies)
                row.push_back(format_seconds(point.slowest_s->median));
            if (copies || size)
                row.push_back(ratio_words(point.to_first));
            if (!size)
                row.push_back(speed_up_words(point));
            if (!size && !copies)
                row.push_back(format_fraction(point.efficiency));
        }
        if (!size) {
            row.resize(rows[0].size() - 1);
            row.push_back(mark_of(scaling, index));
        }
        row.resize(rows[0].size());
        rows.push_back(std::move(row));
    }
    canvas.table(2, columns, rows);
}

void put_grown(TextCanvas& canvas, const std::string& title, const std::vector<GrownAmount>& amounts, bool has_places) {
    Rows rows{{"", "at first", "at last", "more", has_places ? "most at" : ""}};
    for (const GrownAmount& one : amounts)
        if (one.grows && rows.size() <= kMostGrown)
            rows.push_back({one.name, format_seconds(one.seconds.base_median), format_seconds(one.seconds.other_median),
                            shift_words(one.seconds), has_places ? one.place : one.finding});
    if (rows.size() == 1)
        return;
    canvas.heading(title);
    canvas.table(2, {{.limit = 34}, {.align = Align::right, .limit = 9}, {.align = Align::right, .limit = 9},
                     {.align = Align::right, .limit = 34}, {.ink = Ink::faint}},
                 rows);
}

void put_growth(TextCanvas& canvas, const Scaling& scaling) {
    const Growth& growth = *scaling.growth;
    const std::string from_to = fmt::format("from {} to {}{}", scaling.points[growth.from].at.text,
                                            point_words(scaling.axis, scaling.points[growth.to].at),
                                            scaling.axis == Axis::copies ? ", of each copy" : ", of all threads together");
    put_grown(canvas, "What grows " + from_to, growth.classes, true);
    put_grown(canvas, "Lines that grow, by CPU time", growth.lines, false);
    put_grown(canvas, "Libraries that grow, by CPU time", growth.libraries, false);
    if (growth.findings.empty())
        return;
    canvas.heading(fmt::format("Findings of {} that {} does not have", point_words(scaling.axis, scaling.points[growth.to].at),
                               point_words(scaling.axis, scaling.points[growth.from].at)));
    for (size_t i = 0; i < std::min(growth.findings.size(), kMostNewFindings); ++i)
        canvas.paragraph("", 2, {{fmt::format("{} [{}]", growth.findings[i].title, growth.findings[i].id)}});
}

void put_end(TextCanvas& canvas, const Scaling& scaling) {
    if (!scaling.stopped.empty())
        canvas.paragraph(
            "ended", 8,
            {{fmt::format("before all {} of each point: {}", counted(scaling.asked, "run", "runs"), scaling.stopped),
              Ink::medium}});
    if (!scaling.last_errors.empty()) {
        canvas.paragraph("", 8, {{"the last failed run wrote to stderr:"}});
        canvas.verbatim(8, scaling.last_errors);
    }
}

} // namespace

std::string scaling_text(const Scaling& scaling, const TextStyle& style) {
    TextCanvas canvas(style);
    canvas.paragraph("scale", 8, {{scaling.program, Ink::strong}});
    if (scaling.is_by_environment)
        canvas.paragraph("", 8, {{"the number of threads is set as OMP_NUM_THREADS"}});
    canvas.paragraph("in", 8, {{scaling.directory}});
    put_end(canvas, scaling);
    if (!scaling.first) {
        canvas.paragraph("", 0, {{"No run counts: nothing was measured.", Ink::medium}});
        return canvas.take();
    }
    canvas.blank();
    for (const std::string& sentence : scaling_sentences(scaling))
        canvas.paragraph("", 0, {{sentence}});
    put_curve(canvas, scaling);
    if (scaling.growth)
        put_growth(canvas, scaling);
    return canvas.take();
}

} // namespace plumb
