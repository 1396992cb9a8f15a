#include "platform/cpuset.h"

#include "platform/cpu_list.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sstream>
#include <string>

namespace plumb::platform {

namespace {

namespace fs = std::filesystem;

constexpr int kMostCpus = 1 << 16; // no kernel knows masks as large

// Empty when the file is missing, empty or holds something else.
std::vector<int> read_list(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    if (!std::getline(stream, line))
        return {};
    return parse_cpu_list(line).value_or(std::vector<int>{});
}

bool has_word(const std::string& list, const std::string& word) {
    std::stringstream stream(list);
    for (std::string one; std::getline(stream, one, ',');)
        if (one == word)
            return true;
    return false;
}

// The process's path inside one hierarchy: lines "ID:CONTROLLERS:PATH"; v2 is the line with no controllers.
std::string cgroup_path(const fs::path& file, bool version_2) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (version_2 ? controllers.empty() : has_word(controllers, "cpuset"))
            return line.substr(second + 1);
    }
    return {};
}

struct Mount {
    std::string hierarchy_root; // which directory of the hierarchy is mounted
    std::string mount_point;
};

// mountinfo: ID PARENT DEV ROOT MOUNT_POINT OPTIONS [TAGS..] - TYPE SOURCE SUPER_OPTIONS
std::vector<Mount> cgroup_mounts(const fs::path& file, bool version_2) {
    std::vector<Mount> mounts;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const size_t separator = line.find(" - ");
        if (separator == std::string::npos)
            continue;
        std::istringstream left(line.substr(0, separator)), right(line.substr(separator + 3));
        std::string id, parent, device, type, source, super_options;
        Mount mount;
        left >> id >> parent >> device >> mount.hierarchy_root >> mount.mount_point;
        right >> type >> source >> super_options;
        if (version_2 ? type == "cgroup2" : type == "cgroup" && has_word(super_options, "cpuset"))
            mounts.push_back(mount);
    }
    return mounts;
}

// Below the mount a container sees only its own part of the hierarchy: `path` is relative to its root.
std::string below_mount(const Mount& mount, const std::string& path) {
    if (mount.hierarchy_root == "/")
        return path;
    if (path.rfind(mount.hierarchy_root, 0) == 0)
        return path.substr(mount.hierarchy_root.size());
    return "/";
}

// The first cgroup upwards from the process's own that states effective CPUs.
std::vector<int> hierarchy_cpus(const fs::path& root, const fs::path& process, bool version_2) {
    const std::string path = cgroup_path(process / "cgroup", version_2);
    if (path.empty())
        return {};
    for (const Mount& mount : cgroup_mounts(process / "mountinfo", version_2)) {
        const fs::path top = root / fs::path(mount.mount_point).relative_path();
        fs::path below = fs::path(below_mount(mount, path)).relative_path();
        while (true) {
            for (const char* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"}) {
                std::vector<int> cpus = read_list(top / below / name);
                if (!cpus.empty())
                    return cpus;
            }
            if (below.empty())
                break;
            below = below.parent_path();
        }
    }
    return {};
}

} // namespace

std::vector<int> affinity_mask() {
    // The kernel refuses masks smaller than its own: grow until it is content.
    for (int bits = 1024; bits <= kMostCpus; bits *= 2) {
        cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(bits));
        const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(bits));
        const bool done = sched_getaffinity(0, bytes, mask) == 0;
        std::vector<int> cpus;
        for (int cpu = 0; done && cpu < bits; ++cpu)
            if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, mask))
                cpus.push_back(cpu);
        CPU_FREE(mask);
        if (done || errno != EINVAL)
            return cpus;
    }
    return {};
}

std::vector<int> cpuset_cpus(const fs::path& root, const char* self) {
    const fs::path process = root / "proc" / self;
    std::vector<int> cpus = hierarchy_cpus(root, process, true);
    return cpus.empty() ? hierarchy_cpus(root, process, false) : cpus;
}

std::vector<int> allowed_cpus(const fs::path& root, const std::vector<int>& mask, bool whole_cpuset) {
    const std::vector<int> cpuset = cpuset_cpus(root);
    if (cpuset.empty())
        return mask;
    if (whole_cpuset)
        return cpuset;
    std::vector<int> both;
    std::set_intersection(mask.begin(), mask.end(), cpuset.begin(), cpuset.end(), std::back_inserter(both));
    return both.empty() ? mask : both;
}

} // namespace plumb::platform
