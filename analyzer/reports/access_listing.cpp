#include "diagnoses/common/access_words.h"
#include "reports/access_listing.h"
#include "reports/words/quantity.h"
#include "reports/words/utf8.h"

#include <fmt/format.h>

namespace plumb {

namespace {

std::string place_text(const model::SourceFrame& frame) {
    if (frame.line != 0)
        return fmt::format("{}:{}", frame.file, frame.line);
    return frame.function.empty() ? frame.module : fmt::format("{} ({})", frame.module, frame.function);
}

std::string object_text(const AccessLine& line) {
    if (line.objects.empty())
        return object_words({});
    std::string text = object_words(line.objects.front().data);
    if (line.objects.size() > 1)
        text += fmt::format(" and {} other{}", line.objects.size() - 1, line.objects.size() == 2 ? "" : "s");
    return text;
}

const char* grade_text(const AccessLine& line) {
    if (line.kind.locked && line.crossing_share() > 0)
        return "split lock: ";
    return line.kind.packed ? "" : "unaligned ";
}

void append(std::string& text, const std::string& part) {
    if (!part.empty())
        text += ", " + part;
}

} // namespace

std::string access_count_text(const AccessLine& line) {
    if (!line.trapped())
        return "";
    const std::string times =
        fmt::format("{} time{}", grouped(line.counts.hits), line.counts.hits == 1 ? "" : "s");
    return line.counts.exact ? times + " exact" : "at least " + times;
}

std::string crossings_text(const AccessLine& line) {
    if (!line.trapped()) {
        const double samples = static_cast<double>(line.samples);
        if (line.samples == 0 || line.sampled_line_crossings == 0)
            return "";
        std::string text = fmt::format("{} of the sampled time across cache lines",
                                       format_fraction(static_cast<double>(line.sampled_line_crossings) / samples));
        if (line.sampled_page_crossings > 0)
            text += fmt::format(", {} across pages",
                                format_fraction(static_cast<double>(line.sampled_page_crossings) / samples));
        return text;
    }
    if (line.counts.line_crossings == 0)
        return "";
    std::string text = fmt::format("{} across cache lines", grouped(line.counts.line_crossings));
    if (line.counts.page_crossings > 0)
        text += fmt::format(", {} across pages", grouped(line.counts.page_crossings));
    return text;
}

std::string access_cost_text(const AccessLine& line) {
    if (!line.priced)
        return "";
    return line.cost.total_s() > 0
               ? fmt::format("{} {}", format_seconds(line.cost.total_s()), to_string(line.cost.how))
               : "no measurable cost";
}

std::string access_text(const AccessLine& line) {
    const std::string called = line.called_code();
    std::string text = fmt::format("{}: {}{}{} {} {}", place_text(line.frame),
                                   called.empty() ? "" : "in " + called + ": ", grade_text(line),
                                   access_words(line.kind), access_preposition(line.kind), object_text(line));
    append(text, access_count_text(line));
    append(text, crossings_text(line));
    append(text, access_cost_text(line));
    if (!line.objects.empty() && line.objects.front().cause.cause != Misalignment::Cause::unknown)
        text += fmt::format(" [{}]", to_string(line.objects.front().cause.cause));
    return text;
}

std::string access_listing(const Report& report) {
    if (report.accesses.empty())
        return "plumb: no unaligned access was seen; the evidence section of the report says how they were looked for\n";
    std::string text;
    for (const AccessLine& line : report.accesses)
        text += sanitised(access_text(line)) + "\n";
    return text;
}

} // namespace plumb
