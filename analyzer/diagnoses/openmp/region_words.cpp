#include "diagnoses/openmp/region_words.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

// The compiler gives the call that starts a region the line of its function, and the function that it made of the region the line
// of the region itself.
model::SourceFrame region_frame(model::CallPaths& paths, const RegionPlace& place) {
    const model::OmpRegion& region = *place.region;
    const model::Module* const module = region.function ? paths.module_of(place.process, region.function) : nullptr;
    if (module && !model::is_system_module(module->path))
        if (const std::vector<model::SourceFrame> frames = paths.frames_at(place.process, region.function);
            !frames.empty() && !frames[0].file.empty() && frames[0].line != 0 && !model::is_system_source(frames[0].file))
            return frames[0];
    return paths.user_frame(place.process, region.path);
}

} // namespace

std::vector<RegionPlace> regions_of(const model::Run& run) {
    std::vector<RegionPlace> places;
    for (size_t process = 0; process < run.processes.size(); ++process)
        if (run.processes[process].openmp)
            for (const model::OmpRegion& region : run.processes[process].openmp->regions)
                if (region.ended > 0)
                    places.push_back({static_cast<uint32_t>(process), &region});
    return places;
}

std::string schedule_words(const model::OmpRegion& region) {
    const auto chunks = [&](const char* kind) {
        return region.chunk > 1 ? fmt::format("{}, chunks of {}", kind, region.chunk) : std::string(kind);
    };
    switch (region.schedule) {
    case model::OmpSchedule::dynamic: return chunks("dynamic");
    case model::OmpSchedule::guided: return chunks("guided");
    case model::OmpSchedule::fixed: return chunks("static");
    case model::OmpSchedule::runtime: return "runtime (OMP_SCHEDULE)";
    case model::OmpSchedule::sections: return "sections";
    case model::OmpSchedule::automatic: return "auto";
    case model::OmpSchedule::none: break;
    }
    return "static, or none: the runtime hands out no iterations";
}

double team_size(const model::OmpRegion& region) {
    return region.compared > 0 ? std::max(1.0, static_cast<double>(region.threads) / static_cast<double>(region.compared)) : 1;
}

double compared_scale(const model::OmpRegion& region) {
    return region.compared_ns > 0 ? std::max(1.0, static_cast<double>(region.wall_ns) / static_cast<double>(region.compared_ns)) : 0;
}

double wall_s_of(const model::OmpRegion& region, double ns) {
    return ns * 1e-9 / static_cast<double>(std::max<size_t>(1, region.masters.size()));
}

double share_with_cpu(const model::Process& process) {
    double run = 0, delay = 0;
    for (const model::Thread& thread : process.threads) {
        run += static_cast<double>(thread.run_ns);
        delay += static_cast<double>(thread.run_delay_ns);
    }
    return run > 0 ? run / (run + delay) : 1;
}

void describe_region(model::CallPaths& paths, const RegionPlace& place, Finding& finding) {
    const model::OmpRegion& region = *place.region;
    LineShares lines;
    lines.add(region_frame(paths, place), 1);
    finding.where = lines.heaviest(1);
    finding.subject.kind = "call-site";
    finding.subject.name = region_name(paths, place);
    finding.subject.details["process"] = paths.run().processes[place.process].name;
    finding.evidence["region_count"] = static_cast<int64_t>(region.ended);
    finding.evidence["region_wall_seconds"] = wall_s_of(region, static_cast<double>(region.wall_ns));
    finding.evidence["thread_count"] = static_cast<int64_t>(region.most_threads);
    finding.evidence["schedule"] = schedule_words(region);
}

std::string region_name(model::CallPaths& paths, const RegionPlace& place) {
    LineShares lines;
    lines.add(region_frame(paths, place), 1);
    const std::vector<Location> where = lines.heaviest(1);
    return where.empty() ? fmt::format("{:#x}", place.region->call_site) : place_name(where[0]);
}

} // namespace plumb
