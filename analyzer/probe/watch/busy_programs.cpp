#include "probe/watch/busy_programs.h"

#include "platform/read_file.h"
#include "platform/task_stat.h"

#include <optional>
#include <string_view>
#include <utility>

namespace plumb::probe {

namespace {

// usage_usec of a group's cpu.stat, in seconds.
std::optional<double> group_cpu_s(const std::string& root, const std::string& group) {
    const auto text = platform::read_file(root + "/sys/fs/cgroup" + group + "/cpu.stat");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        std::string_view line = platform::next_line(rest);
        if (platform::next_word(line) == "usage_usec")
            return static_cast<double>(platform::to_u64(platform::next_word(line))) * 1e-6;
    }
    return std::nullopt;
}

// "0::/user.slice/session-1.scope"; empty: none of version 2, or all that the machine does.
std::string group_of(const std::string& root, uint32_t pid) {
    const auto text = platform::read_file(root + "/proc/" + std::to_string(pid) + "/cgroup");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        const std::string_view line = platform::next_line(rest);
        if (line.starts_with("0::/"))
            return line == "0::/" ? std::string() : std::string(line.substr(3));
    }
    return {};
}

} // namespace

BusyPrograms::BusyPrograms(std::string root, uint32_t own_pid) : root_(std::move(root)), own_pid_(own_pid) { look(); }

void BusyPrograms::look() {
    std::map<uint32_t, Process> now;
    for (const uint32_t pid : platform::list_processes(root_ + "/proc")) {
        if (pid == own_pid_)
            continue;
        const auto stat = platform::read_process_stat(root_ + "/proc", pid);
        if (!stat)
            continue;
        // The kernel counts processes in ticks; of one with a single thread, its scheduler knows the nanoseconds.
        uint64_t cpu_ns = stat->user_ns + stat->system_ns;
        if (stat->thread_count == 1)
            if (const auto exact = platform::read_task_scheduling(root_ + "/proc", pid, pid))
                cpu_ns = exact->run_ns;
        const auto before = processes_.find(pid);
        const bool is_known = before != processes_.end() && before->second.start_ticks == stat->start_ticks;
        const uint64_t begin_ns = is_known ? before->second.cpu_ns : is_first_ ? cpu_ns : 0;
        if (cpu_ns > begin_ns)
            programs_[stat->name] += static_cast<double>(cpu_ns - begin_ns) * 1e-9;
        if (!is_known)
            if (const std::string group = group_of(root_, pid); !group.empty())
                group_names_[group] = true;
        now[pid] = {stat->start_ticks, cpu_ns};
    }
    processes_ = std::move(now);
    is_first_ = false;
}

void BusyPrograms::begin() {
    look();
    programs_.clear();
    groups_at_begin_ = read_groups();
}

std::string BusyPrograms::own_group() const { return group_of(root_, own_pid_); }

std::map<std::string, double> BusyPrograms::read_groups() const {
    std::map<std::string, double> groups;
    for (const auto& [name, is_there] : group_names_)
        if (const auto used_s = group_cpu_s(root_, name))
            groups[name] = *used_s;
    return groups;
}

std::map<std::string, double> BusyPrograms::groups() const {
    std::map<std::string, double> used;
    for (const auto& [name, used_s] : read_groups()) {
        const auto before = groups_at_begin_.find(name);
        used[name] = used_s - (before == groups_at_begin_.end() ? 0 : before->second);
    }
    return used;
}

} // namespace plumb::probe
