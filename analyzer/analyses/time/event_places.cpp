#include "analyses/time/event_places.h"

#include <algorithm>
#include <functional>
#include <map>

namespace plumb {

double EventPlaces::events_at(const Location& line) const {
    for (const Location& place : lines.heaviest(SIZE_MAX, 0))
        if (place.module == line.module && place.file == line.file && place.line == line.line &&
            (line.line != 0 || place.function == line.function))
            return place.share * lines.total();
    return 0;
}

namespace {

uint64_t count_of(const std::vector<model::CounterSamples>& samples, const std::string& event) {
    const auto found = std::ranges::find(samples, event, &model::CounterSamples::event);
    return found == samples.end() ? 0 : found->count;
}

// Of each process as large a part of its events as of the samples whose time is known.
std::vector<EventPlaces::Region> regions_of(const std::vector<model::Process>& processes, const EventPlaces& places) {
    std::vector<double> events(processes.size());
    for (const EventPlaces::Thread& thread : places.threads)
        events[thread.process] += thread.events;
    std::map<std::string, double> by_name;
    for (size_t process = 0; process < processes.size(); ++process) {
        const uint64_t all = count_of(processes[process].counter_samples, places.event);
        for (const model::Region& region : processes[process].regions)
            if (const uint64_t inside = count_of(region.counter_samples, places.event); inside > 0 && all > 0)
                by_name[region.name] += events[process] * static_cast<double>(inside) / static_cast<double>(all);
    }
    std::vector<EventPlaces::Region> regions;
    for (const auto& [name, each] : by_name)
        regions.push_back({name, each});
    std::ranges::stable_sort(regions, std::greater<>(), &EventPlaces::Region::events);
    return regions;
}

} // namespace

std::vector<EventPlaces> event_places_of(model::CallPaths& paths) {
    std::map<std::string, EventPlaces> by_event;
    std::map<std::string, std::map<std::pair<size_t, size_t>, double>> by_thread;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); ++process)
        for (const model::CounterSite& site : processes[process].counter_sites) {
            if (site.path >= processes[process].paths.size())
                continue;
            EventPlaces& places = by_event[site.event];
            places.event = site.event;
            places.samples += site.samples;
            const auto events = static_cast<double>(site.events);
            places.events += events;
            places.lines.add(paths.user_frame(process, site.path), events);
            by_thread[site.event][{process, site.thread}] += events;
        }
    std::vector<EventPlaces> all;
    for (auto& [event, places] : by_event) {
        for (const auto& [task, events] : by_thread[event])
            places.threads.push_back({task.first, task.second, events});
        std::ranges::stable_sort(places.threads, std::greater<>(), &EventPlaces::Thread::events);
        places.regions = regions_of(processes, places);
        all.push_back(std::move(places));
    }
    return all;
}

const EventPlaces* find_event_places(const std::vector<EventPlaces>& places, const std::string& event) {
    const auto found = std::ranges::find(places, event, &EventPlaces::event);
    return found == places.end() ? nullptr : &*found;
}

} // namespace plumb
