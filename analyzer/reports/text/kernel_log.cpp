#include "reports/text/kernel_log.h"

#include "reports/text/canvas.h"
#include "reports/words/kernel_log_words.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

namespace {

using kernel_log::PlacedGroup;
using Align = Column::Align;

constexpr size_t kLogIndent = 10, kMostPlaces = 20;

void put_kind(TextCanvas& canvas, const kernel_log::Study& study, kernel_log::Kind kind) {
    if (!study.has(kind))
        return;
    canvas.heading(kernel_log_heading(kind));
    std::vector<std::vector<std::string>> rows{{"times", "program", "where", "addresses", "first", "last"}};
    size_t more = 0;
    for (const PlacedGroup& each : study.groups) {
        if (each.group.first.kind != kind)
            continue;
        if (rows.size() > kMostPlaces) {
            ++more;
            continue;
        }
        rows.push_back({format_count(static_cast<double>(each.group.count)), program_words(each.group), place_words(each), address_words(each.group),
                        each.group.first.when, each.group.last_when});
    }
    canvas.table(2, {{.align = Align::right, .limit = 9}, {.limit = 28}, {.limit = 48}, {.limit = 44}, {.limit = 26}, {.limit = 26}}, rows);
    if (more > 0)
        canvas.paragraph("", 2, {{fmt::format("and {} (--format json has all)", counted(more, "more place", "more places"))}});
    if (const std::string advice = kernel_log_advice(kind); !advice.empty())
        canvas.paragraph("", 2, {{advice}});
}

} // namespace

std::string kernel_log_text(const kernel_log::Study& study, const TextStyle& style) {
    TextCanvas canvas(style);
    canvas.paragraph("log", kLogIndent, {{fmt::format("{}: {}, {} about programs and the machine", study.log, counted(study.lines, "line", "lines"),
                                                   format_count(static_cast<double>(study.messages)))}});
    if (!study.suppressed.empty()) {
        std::string words;
        for (const auto& [function, count] : study.suppressed)
            words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", format_count(static_cast<double>(count)), function);
        canvas.paragraph("missing", kLogIndent, {{"the kernel limits how often it writes, and left out " + words + ": the counts below are what it wrote"}});
    }
    if (study.left_out > 0)
        canvas.paragraph("missing", kLogIndent, {{fmt::format("{} of further places, which are not listed", format_count(static_cast<double>(study.left_out)))}});
    if (study.messages == 0)
        canvas.paragraph("", kLogIndent, {{"no line is about accesses that are not aligned, split locks, exceptions, lack of memory, errors of the "
                                        "hardware or throttled clocks"}});
    using kernel_log::Kind;
    for (const Kind kind : {Kind::unaligned, Kind::split_lock, Kind::bus_lock, Kind::segfault, Kind::trap, Kind::killed, Kind::machine_check,
                            Kind::throttled})
        put_kind(canvas, study, kind);
    return canvas.take();
}

} // namespace plumb
