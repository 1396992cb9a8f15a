#include "reports/html/report.h"
#include "reports/html/sections.h"
#include "reports/words/line_texts.h"
#include "reports/html/page_data.h"
#include "reports/html/page_frame.h"
#include "reports/words/run_summary.h"

namespace plumb {

std::string html_report(const Report& report) {
    const CpuTimeline timeline = build_cpu_timeline(*report.run);
    SourceFiles sources(report.may_show_source);
    HtmlWriter html;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_html_document_head(html, headline_of(report.run->command, 120));
    html.open("body").open("main");
    put_html_head(html, report);
    if (report.noise)
        put_html_noise(html, report);
    put_html_account(html, report);
    put_html_findings(html, report, sources);
    if (report.system)
        put_html_system(html, report);
    put_html_call_tree(html, report);
    put_html_metrics(html, report);
    put_html_mpi(html, report);
    put_html_memory(html, report);
    put_html_charts(html, timeline);
    put_html_hot_lines(html, report, sources);
    put_html_events(html, report);
    put_html_libraries(html, report);
    put_html_accesses(html, report);
    put_html_heap(html, report);
    put_html_regions(html, report);
    put_html_placement(html, report);
    put_html_evidence(html, report);
    put_html_foot(html, report);
    html.close();
    put_html_scripts(html, [&] { return page_data(report, timeline); });
    return html.take();
}

} // namespace plumb
