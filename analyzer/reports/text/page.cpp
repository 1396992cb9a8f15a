#include "reports/text/page.h"

#include "analyses/lines/launch_command.h"
#include "reports/words/cycle_words.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"
#include "reports/words/run_summary.h"
#include "reports/words/system_words.h"
#include "reports/text/account.h"
#include "reports/text/canvas.h"
#include "reports/text/findings.h"
#include "reports/text/noise.h"
#include "reports/text/system.h"
#include "reports/words/utf8.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace plumb {

namespace {

constexpr size_t kFindings = 5, kWarnings = 3, kPageIndent = 24, kCommandWidth = 160;

std::vector<const Finding*> numbered(const Report& report) {
    std::vector<const Finding*> findings;
    for (const Finding& finding : report.findings)
        if (finding.severity != Severity::info)
            findings.push_back(&finding);
    return findings;
}

void put_page_head(TextCanvas& canvas, const Report& report) {
    canvas.paragraph("plumb", 7, {{headline_of(report.run->command, kCommandWidth), Ink::strong}});
    canvas.paragraph("", 7, {{fmt::to_string(fmt::join(run_facts(report), " · ")), Ink::faint}});
    const std::vector<std::string> warnings = run_warnings(report);
    for (size_t i = 0; i < std::min(warnings.size(), kWarnings); ++i)
        canvas.paragraph("", 7, {{warnings[i], Ink::medium}});
    if (warnings.size() > kWarnings)
        canvas.paragraph("", 7, {{fmt::format("and {} more such notes, see --full", warnings.size() - kWarnings), Ink::medium}});
}

// Where to look and what to do, in one line: the details are one command away.
std::string next_step(const Finding& finding) {
    std::string text = place_beside_title(finding);
    if (!finding.advice.empty() && !finding.advice.front().what.empty())
        text += (text.empty() ? "" : " · ") + finding.advice.front().what;
    return text;
}

void put_finding_line(TextCanvas& canvas, const Finding& finding, size_t number) {
    std::string severity = to_string(finding.severity);
    std::ranges::transform(severity, severity.begin(), [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    const std::string label = fmt::format("{:<2} {:<7} {:<11}", number, severity, gain_text(finding.gain));
    canvas.paragraph(label, kPageIndent, {{finding.title, Ink::strong}}, ink_of(finding.severity));
    if (const std::string step = next_step(finding); !step.empty())
        canvas.paragraph("", kPageIndent, {{step}});
}

// Asked for, so it is on the first screen.
void put_expectations(TextCanvas& canvas, const Report& report) {
    for (const MpiSummary& summary : report.mpi)
        if (const std::string sentence = expectation_sentence(summary); !sentence.empty()) {
            canvas.blank();
            canvas.paragraph("", 0, {{sentence}});
        }
}

void put_help(TextCanvas& canvas, const Report& report) {
    const std::vector<const Finding*> findings = numbered(report);
    if (findings.empty() && report.system)
        return;
    if (findings.empty()) {
        canvas.blank();
        canvas.paragraph("", 0, {{verdict(report), outcome_of(report) == Outcome::nothing_found ? Ink::good : Ink::strong}});
        return;
    }
    canvas.heading("What would help most");
    for (size_t i = 0; i < std::min(findings.size(), kFindings); ++i)
        put_finding_line(canvas, *findings[i], i + 1);
    if (const std::string overlaps = overlaps_text(findings, kFindings); !overlaps.empty())
        canvas.paragraph("", 3, {{overlaps}});
    if (findings.size() > kFindings)
        canvas.paragraph("", 3, {{fmt::format("and {} more, see --full", findings.size() - kFindings), Ink::faint}});
}

void put_page_foot(TextCanvas& canvas, const Report& report) {
    const size_t infos = report.findings.size() - numbered(report).size();
    const std::string missing = missing_evidence(report);
    canvas.blank();
    if (!numbered(report).empty() || infos > 0) {
        std::string text = fmt::format("{} {} ran", report.looked_for.size(), report.looked_for.size() == 1 ? "diagnosis" : "diagnoses");
        if (infos > 0)
            text += fmt::format("; {} more {} noted without a certain gain", infos, infos == 1 ? "thing was" : "things were");
        text += ".";
        if (!missing.empty())
            text += fmt::format(" Missing evidence: {}.", missing);
        canvas.paragraph("", 0, {{text, Ink::faint}});
    }
    const std::string took = fmt::format("Recorded in {}, which took {} of {} CPU time.", report.run->directory,
                                         format_fraction(report.own_cost.fraction), report.system ? "the used" : "the run's");
    canvas.paragraph("", 0, {{took, Ink::faint}});
    const std::string run = shell_line({report.run->directory});
    canvas.verbatim(0, fmt::format("Details  plumb report {} --full", run));
    canvas.verbatim(0, fmt::format("Charts   plumb report {} --format html -o report.html", run));
}

} // namespace

std::string text_page(const Report& report, const TextStyle& style) {
    TextCanvas canvas(style);
    put_page_head(canvas, report);
    if (report.noise) {
        canvas.blank();
        canvas.paragraph("", 0, {{verdict(report), Ink::strong}});
        put_noise(canvas, report, false);
        return canvas.take();
    }
    if (report.system) {
        canvas.blank();
        canvas.paragraph("", 0, {{system_verdict(*report.system), Ink::strong}});
        put_system(canvas, *report.system, false);
    }
    put_short_account(canvas, report);
    put_expectations(canvas, report);
    put_help(canvas, report);
    put_page_foot(canvas, report);
    return canvas.take();
}

std::string finding_text(const Report& report, size_t number, const TextStyle& style) {
    const std::vector<const Finding*> findings = numbered(report);
    if (number == 0 || number > findings.size())
        throw Error(fmt::format("there is no finding {}: this run has {}", number, findings.size()));
    TextCanvas canvas(style);
    put_finding(canvas, *findings[number - 1]);
    return canvas.take();
}

} // namespace plumb
