#include "reports/json/events.h"

namespace plumb {

Json sampled_events_array(const Report& report) {
    Json events = Json::array();
    for (const SampledEventRow& row : report.sampled_events) {
        Json lines = Json::array(), threads = Json::array();
        for (const Location& line : row.lines)
            lines.push_back({{"file", line.file},
                             {"line", line.line},
                             {"function", line.function},
                             {"module", line.module},
                             {"fraction", number(line.share)}});
        for (const SampledEventRow::Thread& thread : row.threads)
            threads.push_back({{"process", thread.process},
                               {"name", thread.name},
                               {"pid", thread.pid},
                               {"tid", thread.tid},
                               {"fraction", number(thread.fraction)}});
        Json regions = Json::array();
        for (const SampledEventRow::Region& region : row.regions)
            regions.push_back({{"name", region.name}, {"fraction", number(region.fraction)}});
        events.push_back({{"event", row.event},
                          {"samples", row.samples},
                          {"events", number(row.events)},
                          {"unplaced_fraction", number(row.unplaced_fraction)},
                          {"lines", std::move(lines)},
                          {"threads", std::move(threads)},
                          {"regions", std::move(regions)}});
    }
    return events;
}

} // namespace plumb
