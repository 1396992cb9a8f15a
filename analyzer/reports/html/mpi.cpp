// MPI jobs: where the ranks' time went, at which lines, and for whom it was waited. Charts for the largest job.
#include "reports/html/sections.h"
#include "reports/words/cycle_words.h"
#include "reports/words/line_texts.h"
#include "reports/words/mpi_words.h"
#include "reports/html/page_assets.h"
#include "reports/html/page_mpi.h"
#include "reports/words/quantity.h"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kSiteLimit = 25, kJobLimit = 16;

// The line, and where it was called from: in view what tells it from lines that read the same, the rest one click away.
void put_place(HtmlWriter& html, const MpiSiteLine& line, const std::vector<const model::SourceFrame*>& telling) {
    html.open("td");
    if (!line.callers.empty())
        html.open("details").open("summary");
    html.element("code", frame_text(line.frame));
    for (const model::SourceFrame* caller : telling)
        html.text(", from ").element("code", frame_text(*caller));
    if (!line.callers.empty()) {
        html.close();
        for (const model::SourceFrame& caller : line.callers)
            html.open("div", {{"class", "muted"}}).text("from ").element("code", frame_text(caller)).close();
        html.close();
    }
    html.close();
}

void put_sites(HtmlWriter& html, const MpiSummary& summary) {
    const std::vector<const MpiSiteLine*> lines = lines_within_job(summary, summary.sites.size());
    if (lines.empty())
        return;
    const std::vector<const MpiSiteLine*> shown = lines_within_job(summary, kSiteLimit);
    const auto telling = telling_callers(shown);
    html.open("table").open("thead").open("tr");
    for (const char* head : {"Time", "Waiting", "Calls", "Bytes", "Mean size"})
        html.element("th", head, {{"scope", "col"}, {"class", "number"}});
    html.element("th", "Call", {{"scope", "col"}}).element("th", "Your line", {{"scope", "col"}});
    html.close().close().open("tbody");
    for (size_t index = 0; index < shown.size(); ++index) {
        const model::MpiCallSite& site = *shown[index]->site;
        html.open("tr").element("td", format_fraction(fraction_of_job(*summary.job, site.time_s)), {{"class", "number"}});
        html.element("td", waiting_text(site), {{"class", "number"}});
        html.element("td", format_count(static_cast<double>(site.calls)), {{"class", "number"}});
        html.element("td", site.sent_bytes + site.received_bytes > 0
                               ? format_bytes(static_cast<double>(site.sent_bytes + site.received_bytes))
                               : "",
                     {{"class", "number"}});
        html.element("td", mean_size_text(site), {{"class", "number"}});
        html.element("td", site.call);
        put_place(html, *shown[index], telling[index]);
        html.close();
    }
    html.close().close();
    if (lines.size() > shown.size())
        html.element("p", fmt::format("and {} more call sites", lines.size() - shown.size()), {{"class", "muted"}});
    if (const std::string sentence = start_and_end_sentence(summary); !sentence.empty())
        html.element("p", sentence, {{"class", "muted"}});
}

void put_charts(HtmlWriter& html, const MpiSummary& summary) {
    const model::MpiJob& job = *summary.job;
    if (kPageScript.empty() || job.ranks.empty())
        return;
    put_html_chart(html, "chart-mpi-ranks",
              "Where each rank's time went. With many ranks, outliers come first, then means of consecutive ranks.");
    if (job.cycles.count > 1)
        put_html_chart(html, "chart-mpi-cycles",
                  "How long the cycles took, in order of time: the mean of consecutive cycles as a line, the shortest and the longest "
                  "of them as its band. Beside it how often which length came. Both axes of length are logarithmic.");
    if (!job.arrivals.rows.empty() && !job.arrivals.columns.empty())
        put_html_chart(html, "chart-mpi-arrivals",
                  "When ranks arrived at collectives, relative to the median arrival. Late ranks, for which the others waited, "
                  "are red. Time runs to the right.");
    if (!job.matrix.places.empty())
        put_html_chart(html, "chart-mpi-matrix", "Who sent how many bytes to whom.");
    if (!summary.sites.empty())
        put_html_chart(html, "chart-mpi-sizes", "Messages by size, of the call sites with most of them.");
}

void put_job(HtmlWriter& html, const MpiSummary& summary, const model::Run& run, bool charted) {
    html.element("h3", mpi_heading(summary)).element("p", mpi_time_sentence(summary));
    for (const std::string& limit : mpi_limits(summary))
        html.element("p", limit, {{"class", "muted"}});
    for (const std::string& sentence : {cycles_sentence(summary), cycle_loss_sentence(summary), expectation_sentence(summary)})
        if (!sentence.empty())
            html.element("p", sentence);
    for (const model::MpiRankRow* row : summary.awaited)
        html.element("p", awaited_sentence(summary, *row, run));
    if (charted)
        put_charts(html, summary);
    put_sites(html, summary);
}

} // namespace

void put_html_mpi(HtmlWriter& html, const Report& report) {
    if (report.mpi.empty())
        return;
    html.open("section", {{"id", "mpi"}}).element("h2", "MPI");
    for (size_t index = 0; index < report.mpi.size() && index < kJobLimit; ++index)
        put_job(html, report.mpi[index], *report.run, &report.mpi[index] == charted_mpi_job(report));
    if (report.mpi.size() > kJobLimit)
        html.element("p", fmt::format("and {} more jobs", report.mpi.size() - kJobLimit), {{"class", "muted"}});
    html.close();
}

} // namespace plumb
