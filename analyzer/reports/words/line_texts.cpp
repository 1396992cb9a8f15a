#include "reports/words/line_texts.h"

#include "analyses/lines/launch_command.h"
#include "reports/words/quantity.h"
#include "reports/words/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kPerhapsNothing = 0.001; // of the run

} // namespace

std::string location_text(const Location& location) {
    std::string text;
    if (!location.file.empty())
        text = location.line ? fmt::format("{}:{}", location.file, location.line) : location.file;
    if (!location.function.empty())
        text += (text.empty() ? "" : " in ") + location.function;
    if (location.file.empty() && !location.module.empty())
        text += (text.empty() ? "unnamed code in " : " in ") + location.module;
    return text.empty() ? "place unknown" : text;
}

std::string frame_text(const model::SourceFrame& frame) {
    return location_text(Location{frame.file, frame.function, frame.module, frame.line, 0, ""});
}

std::string short_frame_text(const model::SourceFrame& frame, size_t width) {
    model::SourceFrame shorter = frame;
    std::string text = frame_text(shorter);
    size_t folder = 0;
    while (columns(text) > width && (folder = frame.file.find('/', folder + 1)) != std::string::npos) {
        shorter.file = "…" + frame.file.substr(folder);
        text = frame_text(shorter);
    }
    return text;
}

std::string gain_text(const Gain& gain) {
    if (gain.fraction <= 0)
        return "";
    return fmt::format("{} {}", gain.kind() == Gain::Kind::upper_bound ? "up to" : "about", format_fraction(gain.fraction));
}

std::string whole_words(const Finding& finding) { return finding.whole.empty() ? "the run" : finding.whole; }

std::string whole_gain_text(const Finding& finding) {
    const Gain& gain = finding.gain;
    if (gain.fraction <= 0)
        return "";
    const std::string least = format_fraction(gain.certain()), all = format_fraction(gain.fraction);
    return gain_text(gain) + " of " + whole_words(finding) +
           (least == all ? "" : gain.certain() < kPerhapsNothing ? ", perhaps nothing" : ", at least " + least);
}

namespace {

// Indexes count from 0, findings from 1: "1, 3 and 4".
std::string numbers_text(const std::vector<size_t>& indexes) {
    std::string text;
    for (size_t i = 0; i < indexes.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == indexes.size() ? " and " : ", ", indexes[i] + 1);
    return text;
}

} // namespace

std::string overlap_text(const Finding& finding) {
    if (finding.overlaps.empty())
        return "";
    return fmt::format("the same time in part as finding{} {}: the gains do not add up", finding.overlaps.size() == 1 ? "" : "s",
                       numbers_text(finding.overlaps));
}

std::string overlaps_text(const std::vector<const Finding*>& findings, size_t limit) {
    std::vector<size_t> indexes;
    double sum = 0;
    const size_t shown = std::min(findings.size(), limit);
    for (size_t i = 0; i < shown; ++i) {
        sum += findings[i]->gain.fraction;
        if (std::ranges::any_of(findings[i]->overlaps, [&](size_t other) { return other < shown; }))
            indexes.push_back(i);
    }
    if (!indexes.empty())
        return fmt::format("The gains of {} are the same time in part: they do not add up.{}", numbers_text(indexes),
                           sum > 1 && indexes.size() < shown ? " All together are more than the whole run." : "");
    return sum > 1 ? "These gains are more than the whole run together: they do not add up." : "";
}

std::string place_beside_title(const Finding& finding) {
    if (finding.where.empty())
        return "";
    const Location& place = finding.where.front();
    const std::string name = place.file.empty() ? location_text(place) : fmt::format("{}:{}", place.file, place.line);
    return finding.title.find(name) == std::string::npos ? location_text(place) : "";
}

std::string more_places(size_t count) {
    return fmt::format("and {} more place{}", count, count == 1 ? "" : "s");
}

bool names_first_place(const Finding& finding) {
    if (finding.where.empty())
        return false;
    const Location& first = finding.where.front();
    return finding.subject.name == fmt::format("{}:{}", first.file, first.line) ||
           finding.subject.name == location_text(first);
}

std::string headline_of(const std::vector<std::string>& command, size_t limit) {
    const std::string line = sanitised(shell_line(command));
    size_t end = 0;
    for (size_t count = 0; end < line.size() && count < limit; count++)
        do
            end++;
        while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80);
    return end < line.size() ? line.substr(0, end) + "…" : line;
}

std::string leaf_text(const HotLine& line) {
    std::string text;
    if (line.leaf_function != line.frame.function && !line.leaf_function.empty())
        text = "in " + line.leaf_function;
    if (line.leaf_module != line.frame.module && !line.leaf_module.empty())
        text += (text.empty() ? "in " : " of ") + line.leaf_module;
    return text;
}

} // namespace plumb
