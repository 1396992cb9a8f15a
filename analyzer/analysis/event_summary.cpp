#include "analysis/event_summary.h"

#include "analyses/time/event_places.h"

namespace plumb {

std::vector<SampledEventRow> summarise_events(model::CallPaths& paths, size_t line_limit, size_t thread_limit, size_t region_limit) {
    std::vector<SampledEventRow> rows;
    for (const EventPlaces& places : event_places_of(paths)) {
        if (places.events <= 0)
            continue;
        SampledEventRow& row = rows.emplace_back();
        row.event = places.event;
        row.samples = places.samples;
        row.events = places.events;
        row.lines = places.lines.heaviest(line_limit, 0);
        row.unplaced_fraction = places.lines.unplaced_fraction();
        for (const EventPlaces::Thread& each : places.threads) {
            if (row.threads.size() >= thread_limit)
                break;
            const model::Process& process = paths.run().processes[each.process];
            if (each.thread >= process.threads.size())
                continue;
            const model::Thread& thread = process.threads[each.thread];
            row.threads.push_back({process.name, thread.name.empty() ? process.name : thread.name, process.pid, thread.tid,
                                   each.events / places.events});
        }
        for (const EventPlaces::Region& each : places.regions)
            if (row.regions.size() < region_limit)
                row.regions.push_back({each.name, each.events / places.events});
    }
    return rows;
}

} // namespace plumb
