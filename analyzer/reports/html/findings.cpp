// What is out of plumb, each finding an article of its own.
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"

#include <fmt/format.h>
#include <sstream>

namespace plumb {

namespace {

constexpr size_t kWhereLimit = 8, kExcerptContext = 2;

void put_cost(HtmlWriter& html, const Finding& finding) {
    html.open("p", {{"class", "cost"}});
    if (finding.severity != Severity::info || finding.cost.fraction > 0)
        html.element("strong", format_fraction(finding.cost.fraction) + " of " + whole_words(finding))
            .text(fmt::format(" · {} · {}", format_seconds(finding.cost.seconds), finding.cost.how));
    else
        html.text("no measurable cost");
    if (finding.confidence < 0.8)
        html.text(fmt::format(" · confidence {}", format_fraction(finding.confidence)));
    html.close();
}

void put_where(HtmlWriter& html, const Finding& finding, SourceFiles& sources) {
    if (finding.where.empty())
        return;
    html.open("ol", {{"class", "where"}});
    for (size_t index = 0; index < finding.where.size() && index < kWhereLimit; index++) {
        const Location& location = finding.where[index];
        html.open("li").element("code", location_text(location));
        if (location.share > 0)
            html.element("span", " · " + format_fraction(location.share), {{"class", "muted"}});
        if (!location.inlined_from.empty())
            html.element("span", " · inlined from " + location.inlined_from, {{"class", "muted"}});
        if (index == 0)
            put_html_excerpt(html, sources.excerpt(location.file, location.line, kExcerptContext),
                             location.line);
        html.close();
    }
    if (finding.where.size() > kWhereLimit)
        html.element("li", more_places(finding.where.size() - kWhereLimit), {{"class", "muted"}});
    html.close();
}

void put_evidence(HtmlWriter& html, const Finding& finding) {
    html.open("ul", {{"class", "numbers"}});
    if (!finding.subject.kind.empty() && !names_first_place(finding))
        html.element("li", finding.subject.kind + " " + finding.subject.name);
    for (const auto& [key, value] : finding.evidence)
        html.element("li", format_evidence(key, value, 12));
    html.close();
}

// Line by line: text() would make blanks of the newlines that an argument may hold.
void put_command(HtmlWriter& html, const std::string& command) {
    html.open("pre", {{"class", "command"}, {"tabindex", "0"}});
    std::istringstream lines(command);
    size_t count = 0;
    for (std::string line; std::getline(lines, line);)
        html.trusted(count++ ? "\n" : "").text(line);
    html.close();
}

void put_advice(HtmlWriter& html, const Finding& finding) {
    for (const Advice& advice : finding.advice) {
        const bool sentence = advice.how.empty() || advice.what.ends_with('.');
        html.open("div", {{"class", "advice"}}).open("p");
        html.element("strong", advice.what + (sentence ? "" : ":")).text(" " + advice.how).close();
        if (!advice.command.empty())
            put_command(html, advice.command);
        html.close();
    }
    if (finding.gain.fraction > 0)
        html.open("p", {{"class", "gain"}})
            .text("Expected gain: " + whole_gain_text(finding))
            .element("span", finding.gain.how.empty() ? "" : " (" + finding.gain.how + ")",
                     {{"class", "muted"}})
            .close();
    if (const std::string overlap = overlap_text(finding); !overlap.empty())
        html.element("p", overlap, {{"class", "gain"}});
}

void put_finding(HtmlWriter& html, const Finding& finding, SourceFiles& sources) {
    const std::string severity = to_string(finding.severity);
    html.open("article", {{"class", "finding " + severity}, {"data-id", finding.id}});
    html.open("header")
        .element("span", severity, {{"class", "severity"}})
        .element("h3", finding.title)
        .close();
    put_cost(html, finding);
    put_where(html, finding, sources);
    put_evidence(html, finding);
    put_advice(html, finding);
    html.element("p", finding.id, {{"class", "id"}});
    html.close();
}

} // namespace

void put_html_findings(HtmlWriter& html, const Report& report, SourceFiles& sources) {
    if (report.findings.empty())
        return;
    html.open("section", {{"id", "findings"}}).element("h2", "Findings");
    for (const Finding& finding : report.findings)
        put_finding(html, finding, sources);
    html.close();
}

} // namespace plumb
