// Which CPUs this job may use: its affinity mask and its cgroup's cpuset (cgroup v2 and v1).
#pragma once

#include <filesystem>
#include <vector>

namespace plumb::platform {

// CPUs the kernel lets the calling thread run on (sched_getaffinity), sorted.
std::vector<int> affinity_mask();

// CPUs of the cpuset of process `self` ("self" or a pid) as its cgroup states them, sorted. Empty: no cpuset
// applies, or none can be read (no cgroup mounted, a container that hides it). Files under `root`:
// proc/SELF/cgroup, proc/SELF/mountinfo, and the cgroup mount named there. Never throws on odd contents.
std::vector<int> cpuset_cpus(const std::filesystem::path& root, const char* self = "self");

// What relative CPU numbers count over: `mask` (in general affinity_mask()) without what the cpuset excludes;
// with `whole_cpuset` the whole cpuset, for launchers that bound this process to a part of it before us.
// The n-th of the result is relative CPU n. Falls back to `mask` where no cpuset can be read or they are disjoint.
std::vector<int> allowed_cpus(const std::filesystem::path& root, const std::vector<int>& mask,
                              bool whole_cpuset = false);

} // namespace plumb::platform
