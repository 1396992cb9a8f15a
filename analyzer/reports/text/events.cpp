#include "reports/text/events.h"

#include "reports/words/event_words.h"
#include "reports/words/line_texts.h"
#include "support/figures.h"

namespace plumb {

namespace {

constexpr size_t kMostLines = 5, kMostThreads = 6, kMostRegions = 6;
constexpr double kLeastShare = 0.01;

} // namespace

void put_events(TextCanvas& canvas, const Report& report) {
    for (const SampledEventRow& row : report.sampled_events) {
        if (row.samples < kLeastEventSamples)
            continue;
        std::vector<std::vector<std::string>> rows;
        for (const Location& line : row.lines)
            if (line.share >= kLeastShare && rows.size() < kMostLines)
                rows.push_back({format_fraction(line.share), location_text(line)});
        if (row.unplaced_fraction >= kLeastShare)
            rows.push_back({format_fraction(row.unplaced_fraction), "in libraries of the system"});
        canvas.heading(event_title(row));
        canvas.table(2, {{.align = Column::Align::right, .limit = 7}, {.keep_end = false}}, rows);
        if (const std::string threads = event_threads(row, kMostThreads); !threads.empty())
            canvas.paragraph("", 2, {{threads, Ink::faint}});
        if (const std::string regions = event_regions(row, kMostRegions); !regions.empty())
            canvas.paragraph("", 2, {{regions, Ink::faint}});
    }
}

} // namespace plumb
