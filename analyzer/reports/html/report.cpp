#include "reports/html/report.h"
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/html/page_assets.h"
#include "reports/html/page_data.h"
#include "reports/words/run_summary.h"

#include <fmt/format.h>

namespace plumb {

namespace {

// Nothing may be fetched from anywhere, and no scripts run but those that the build made.
std::string content_policy() {
    const std::string_view scripts = kPageScript.empty() ? "'none'" : kPageScriptHashes;
    return fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src data:; "
                       "base-uri 'none'; form-action 'none'",
                       scripts);
}

void put_document_head(HtmlWriter& html, const Report& report) {
    html.open("head");
    html.trusted("<meta charset=\"utf-8\">\n");
    html.trusted(
        fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", content_policy()));
    html.trusted("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.element("title", "plumb: " + headline_of(report.run->command, 120)).trusted("\n");
    html.trusted("<style>").trusted(kPageStyle).trusted("</style>\n");
    html.close();
}

void put_scripts(HtmlWriter& html, const Report& report, const CpuTimeline& timeline) {
    if (kPageScript.empty())
        return;
    html.trusted("<script type=\"application/json\" id=\"plumb-data\">").trusted(page_data(report, timeline));
    html.trusted("</script>\n<script type=\"text/plain\" id=\"plumb-script\">").trusted(kPageScript);
    html.trusted("</script>\n<script>").trusted(kPageUnpack).trusted("</script>\n");
}

} // namespace

std::string html_report(const Report& report) {
    const CpuTimeline timeline = build_cpu_timeline(*report.run);
    SourceFiles sources(report.may_show_source);
    HtmlWriter html;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_document_head(html, report);
    html.open("body").open("main");
    put_html_head(html, report);
    if (report.noise)
        put_html_noise(html, report);
    put_html_account(html, report);
    put_html_findings(html, report, sources);
    put_html_call_tree(html, report);
    put_html_metrics(html, report);
    put_html_mpi(html, report);
    put_html_memory(html, report);
    put_html_charts(html, timeline);
    put_html_hot_lines(html, report, sources);
    put_html_libraries(html, report);
    put_html_accesses(html, report);
    put_html_heap(html, report);
    put_html_regions(html, report);
    put_html_placement(html, report);
    put_html_evidence(html, report);
    put_html_foot(html, report);
    html.close();
    put_scripts(html, report, timeline);
    return html.take();
}

} // namespace plumb
