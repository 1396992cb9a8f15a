#include "reports/text/findings.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr size_t kIndent = 10;
constexpr size_t kFindingLimit = 12, kInfoLimit = 6, kInfoLimitOfId = 2, kWhereLimit = 4, kEvidenceLimit = 10;

std::string cost_text(const Finding& finding) {
    std::string text = fmt::format("{} = {} of {}, {}", format_seconds(finding.cost.seconds),
                                   format_fraction(finding.cost.fraction), whole_words(finding), finding.cost.how);
    if (finding.confidence < 0.8)
        text += fmt::format("; confidence {}", format_fraction(finding.confidence));
    return text;
}

void put_where(TextCanvas& canvas, const Finding& finding) {
    for (size_t index = 0; index < finding.where.size() && index < kWhereLimit; index++) {
        const Location& location = finding.where[index];
        std::string share = location.share > 0 ? " · " + format_fraction(location.share) : "";
        if (!location.inlined_from.empty())
            share += " · inlined from " + location.inlined_from;
        canvas.paragraph(
            index == 0 ? "    where" : "", kIndent,
            {{location_text(location), index == 0 ? Ink::strong : Ink::plain}, {share, Ink::faint}});
    }
    if (finding.where.size() > kWhereLimit)
        canvas.paragraph("", kIndent, {{more_places(finding.where.size() - kWhereLimit), Ink::faint}});
    if (!finding.subject.kind.empty() && !names_first_place(finding))
        canvas.paragraph("    what", kIndent, {{finding.subject.kind + " " + finding.subject.name}});
}

void put_evidence(TextCanvas& canvas, const Finding& finding) {
    std::string text;
    size_t shown = 0;
    for (const auto& [key, value] : finding.evidence) {
        if (shown++ == kEvidenceLimit)
            break;
        text += (text.empty() ? "" : " · ") + format_evidence(key, value, 6);
    }
    if (!text.empty())
        canvas.paragraph("    seen", kIndent, {{text}});
}

void put_advice(TextCanvas& canvas, const Finding& finding) {
    for (const Advice& advice : finding.advice) {
        std::string text = advice.what;
        if (!advice.how.empty())
            text += (text.empty() || text.ends_with('.') ? " " : ": ") + advice.how;
        canvas.paragraph("    do", kIndent, {{text}});
        if (!advice.command.empty())
            canvas.verbatim(kIndent + 2, advice.command);
    }
    if (finding.gain.fraction > 0)
        canvas.paragraph("    gain", kIndent,
                         {{whole_gain_text(finding)},
                          {finding.gain.how.empty() ? "" : " (" + finding.gain.how + ")", Ink::faint}});
    if (const std::string overlap = overlap_text(finding); !overlap.empty())
        canvas.paragraph("", kIndent, {{overlap}});
}

// `commands`: those that were already shown; the same advice is given once.
void put_noted(TextCanvas& canvas, const Finding& finding, std::set<std::string>& commands) {
    std::vector<Piece> pieces = {{finding.title}};
    if (const std::string place = place_beside_title(finding); !place.empty())
        pieces.push_back({" at " + place, Ink::faint});
    pieces.push_back({"  [" + finding.id + "]", Ink::faint});
    canvas.paragraph("  -", 4, pieces);
    for (const Advice& advice : finding.advice)
        if (!advice.command.empty() && commands.insert(advice.command).second)
            canvas.verbatim(6, advice.command);
}

// A few of each kind, so that many of one do not hide the only one of another.
void put_all_noted(TextCanvas& canvas, const Report& report) {
    size_t noted = 0, left_out = 0;
    std::map<std::string, size_t> of_id;
    std::set<std::string> commands;
    for (const Finding& finding : report.findings) {
        if (finding.severity != Severity::info)
            continue;
        if (noted == 0)
            canvas.heading("Also noted, without a certain gain");
        if (noted == kInfoLimit || of_id[finding.id] == kInfoLimitOfId) {
            left_out++;
            continue;
        }
        noted++;
        of_id[finding.id]++;
        put_noted(canvas, finding, commands);
    }
    if (left_out > 0)
        canvas.paragraph("", 4, {{fmt::format("and {} more in the JSON and HTML reports", left_out), Ink::faint}});
}

} // namespace

Ink ink_of(Severity severity) {
    switch (severity) {
    case Severity::high:
        return Ink::high;
    case Severity::medium:
        return Ink::medium;
    case Severity::low:
        return Ink::low;
    case Severity::info:
        return Ink::faint;
    }
    return Ink::plain;
}

void put_finding(TextCanvas& canvas, const Finding& finding) {
    canvas.blank();
    std::string severity = to_string(finding.severity);
    std::transform(severity.begin(), severity.end(), severity.begin(),
                   [](char letter) { return letter - 'a' + 'A'; });
    canvas.paragraph(severity, kIndent, {{finding.title, Ink::strong}}, ink_of(finding.severity));
    canvas.paragraph("    cost", kIndent, {{cost_text(finding)}, {"  [" + finding.id + "]", Ink::faint}});
    put_where(canvas, finding);
    put_evidence(canvas, finding);
    put_advice(canvas, finding);
}

void put_findings(TextCanvas& canvas, const Report& report) {
    size_t serious = 0;
    for (const Finding& finding : report.findings)
        if (finding.severity != Severity::info && serious++ < kFindingLimit)
            put_finding(canvas, finding);
    if (serious > kFindingLimit) {
        canvas.blank();
        canvas.paragraph(
            "", 0,
            {{fmt::format("{} more findings are in the JSON and HTML reports.", serious - kFindingLimit)}});
    }
    put_all_noted(canvas, report);
}

} // namespace plumb
