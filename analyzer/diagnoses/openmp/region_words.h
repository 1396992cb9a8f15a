// How findings about OpenMP name regions, schedules and threads, and which regions they are about.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/finding.h"
#include "model/call_paths.h"

#include <string>
#include <vector>

namespace plumb {

struct RegionPlace {
    uint32_t process = 0; // index into Run::processes
    const model::OmpRegion* region = nullptr;
};

// All regions of the run that ended at least once.
std::vector<RegionPlace> regions_of(const model::Run& run);

// "static, as the compiler divides it, or no loop", "dynamic, chunks of 4", ...
std::string schedule_words(const model::OmpRegion& region);

// Threads of a region that was compared, on average; at least 1.
double team_size(const model::OmpRegion& region);

// Sums over regions that were compared, as if all that ended had been: 1 or more; 0: none was.
double compared_scale(const model::OmpRegion& region);

// Nanoseconds of wall time that `ns`, a sum over the regions of several threads at the same time, stands for.
double wall_s_of(const model::OmpRegion& region, double ns);

// Of the time that threads of a process wanted to run, how much they did: what they lacked a CPU for is no loss of the team.
// 1: not known.
double share_with_cpu(const model::Process& process);

// Number, subject and lines of a finding about a region.
void describe_region(model::CallPaths& paths, const RegionPlace& place, Finding& finding);

// "sweep.c:20"
std::string region_name(model::CallPaths& paths, const RegionPlace& place);

} // namespace plumb
