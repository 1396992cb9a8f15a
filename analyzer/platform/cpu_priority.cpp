#include "platform/cpu_priority.h"

#include "platform/read_file.h"

#include <algorithm>
#include <sched.h>
#include <string_view>

namespace plumb::platform {

namespace {

constexpr int kMuchNicer = 10;

// The control group that shares out CPU time; version 1 names the controller, version 2 has one group for all of them.
std::string cpu_group(const std::string& proc_root, uint32_t pid) {
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/cgroup");
    std::string group;
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) { // "4:cpu,cpuacct:/group", "0::/group"
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const size_t controllers = line.find(':'), path = line.find(':', controllers + 1);
        if (controllers == std::string_view::npos || path == std::string_view::npos)
            continue;
        const std::string names = "," + std::string(line.substr(controllers + 1, path - controllers - 1)) + ",";
        if (names.find(",cpu,") != std::string::npos)
            return std::string(line);
        if (line.starts_with("0::"))
            group = line;
    }
    return group;
}

// "/autogroup-57"; empty: there are none.
std::string autogroup(const std::string& proc_root, uint32_t pid) {
    const auto enabled = read_file(proc_root + "/sys/kernel/sched_autogroup_enabled");
    if (!enabled || enabled->starts_with('0'))
        return {};
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/autogroup");
    return text ? text->substr(0, text->find(' ')) : std::string();
}

} // namespace

bool leaves_cpus_to(const std::string& proc_root, uint32_t other, const TaskStat& other_stat, uint32_t process) {
    const auto stat = read_process_stat(proc_root, process);
    if (!stat || stat->policy == SCHED_IDLE)
        return false;
    if (other_stat.policy != SCHED_IDLE && other_stat.nice - stat->nice < kMuchNicer)
        return false;
    const std::string group = cpu_group(proc_root, other);
    return !group.empty() && group == cpu_group(proc_root, process) && autogroup(proc_root, other) == autogroup(proc_root, process);
}

} // namespace plumb::platform
