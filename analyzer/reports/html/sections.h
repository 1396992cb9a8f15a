// The sections of the HTML report, in the order in which they stand.
#pragma once

#include "reports/cpu_timeline.h"
#include "reports/html/page_frame.h"
#include "reports/html/writer.h"
#include "analysis/report.h"
#include "analyses/lines/source_files.h"

namespace plumb {

void put_html_head(HtmlWriter& html, const Report& report);
void put_html_account(HtmlWriter& html, const Report& report);
void put_html_call_tree(HtmlWriter& html, const Report& report);
void put_html_findings(HtmlWriter& html, const Report& report, SourceFiles& sources);
void put_html_metrics(HtmlWriter& html, const Report& report);
void put_html_mpi(HtmlWriter& html, const Report& report);
void put_html_memory(HtmlWriter& html, const Report& report);
void put_html_noise(HtmlWriter& html, const Report& report); // of a report that has one
void put_html_system(HtmlWriter& html, const Report& report); // of a report that has one
void put_html_charts(HtmlWriter& html, const CpuTimeline& timeline);
void put_html_hot_lines(HtmlWriter& html, const Report& report, SourceFiles& sources);
void put_html_events(HtmlWriter& html, const Report& report);
void put_html_libraries(HtmlWriter& html, const Report& report);
void put_html_accesses(HtmlWriter& html, const Report& report);
void put_html_heap(HtmlWriter& html, const Report& report);
void put_html_regions(HtmlWriter& html, const Report& report);
void put_html_placement(HtmlWriter& html, const Report& report);
void put_html_evidence(HtmlWriter& html, const Report& report);
void put_html_foot(HtmlWriter& html, const Report& report);

// Shared by sections that show code. Nothing when the excerpt is empty.
void put_html_excerpt(HtmlWriter& html, const SourceExcerpt& excerpt, uint32_t line);

} // namespace plumb
