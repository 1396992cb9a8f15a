#include "reports/text/mpi.h"
#include "reports/words/cycle_words.h"
#include "reports/words/line_texts.h"
#include "reports/words/mpi_words.h"
#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kSiteLimit = 8, kAwaitedLimit = 4, kJobLimit = 4;
constexpr double kSmallestCall = 0.001;

using Rows = std::vector<std::vector<std::string>>;
using Align = Column::Align;

// "deep.c:3 in comm, from deep.c:20 in solver": short, as a line of the table has room for both.
std::string place_text(const MpiSiteLine& line, const std::vector<const model::SourceFrame*>& callers) {
    constexpr size_t kFrameRoom = 40;
    if (callers.empty())
        return short_frame_text(line.frame, kFrameRoom);
    const auto name = [](model::SourceFrame frame) {
        frame.file.erase(0, frame.file.rfind('/') + 1);
        return frame_text(frame);
    };
    std::string text = name(line.frame);
    for (const model::SourceFrame* caller : callers)
        text += ", from " + name(*caller);
    return text;
}

void put_sites(TextCanvas& canvas, const MpiSummary& summary) {
    Rows rows = {{"time", "calls", "mean size", "waiting", "", "at"}};
    std::vector<const MpiSiteLine*> lines = lines_within_job(summary, kSiteLimit);
    std::erase_if(lines, [&](const MpiSiteLine* line) {
        return fraction_of_job(*summary.job, line->site->time_s) < kSmallestCall;
    });
    const auto callers = telling_callers(lines);
    for (size_t index = 0; index < lines.size(); ++index) {
        const model::MpiCallSite& site = *lines[index]->site;
        const double share = fraction_of_job(*summary.job, site.time_s);
        rows.push_back({format_fraction(share), format_count(static_cast<double>(site.calls)), mean_size_text(site),
                        waiting_text(site), site.call, place_text(*lines[index], callers[index])});
    }
    if (rows.size() == 1)
        return;
    canvas.table(2,
                 {{.align = Align::right, .limit = 7},
                  {.align = Align::right, .limit = 9},
                  {.align = Align::right, .limit = 10},
                  {.align = Align::right, .limit = 7},
                  {.limit = 24},
                  {.keep_end = false}},
                 rows);
}

void put_job(TextCanvas& canvas, const MpiSummary& summary, const model::Run& run) {
    canvas.heading(mpi_heading(summary));
    canvas.paragraph("", 2, {{mpi_time_sentence(summary)}});
    for (const std::string& limit : mpi_limits(summary))
        canvas.paragraph("", 2, {{limit, Ink::faint}});
    for (const std::string& sentence : {cycles_sentence(summary), cycle_loss_sentence(summary), expectation_sentence(summary)})
        if (!sentence.empty())
            canvas.paragraph("", 2, {{sentence}});
    put_sites(canvas, summary);
    if (const std::string sentence = start_and_end_sentence(summary); !sentence.empty())
        canvas.paragraph("", 2, {{sentence, Ink::faint}});
    for (size_t index = 0; index < summary.awaited.size() && index < kAwaitedLimit; ++index)
        canvas.paragraph("", 2, {{awaited_sentence(summary, *summary.awaited[index], run)}});
}

} // namespace

void put_mpi(TextCanvas& canvas, const Report& report) {
    for (size_t index = 0; index < report.mpi.size() && index < kJobLimit; ++index)
        put_job(canvas, report.mpi[index], *report.run);
    if (report.mpi.size() > kJobLimit)
        canvas.paragraph("", 2, {{fmt::format("and {} more MPI jobs", report.mpi.size() - kJobLimit), Ink::faint}});
}

} // namespace plumb
