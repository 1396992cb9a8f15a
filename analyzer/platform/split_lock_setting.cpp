#include "platform/split_lock_setting.h"

#include "platform/read_file.h"

#include <string_view>

namespace plumb::platform {

namespace {

// The flags of the first CPU ("flags" on x86; no other architecture has split locks).
bool has_cpu_flag(std::string_view info, std::string_view flag) {
    while (!info.empty()) {
        std::string_view line = next_line(info);
        if (!line.starts_with("flags"))
            continue;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
            if (word == flag)
                return true;
        return false;
    }
    return false;
}

// The last one on the command line counts.
std::string parameter(std::string_view command_line, std::string_view name) {
    std::string value;
    for (std::string_view word = next_word(command_line); !word.empty(); word = next_word(command_line))
        if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
            value = word.substr(name.size() + 1);
    return value;
}

} // namespace

SplitLockSetting read_split_lock_setting(const std::string& root) {
    const std::string info = read_file(root + "/proc/cpuinfo").value_or("");
    const std::string command_line = read_file(root + "/proc/cmdline").value_or("");
    const auto mitigate = read_number(root + "/proc/sys/kernel/split_lock_mitigate");
    const std::string chosen = parameter(command_line, "split_lock_detect");
    SplitLockSetting setting;
    const bool reports = has_cpu_flag(info, "split_lock_detect"), reports_bus_locks = has_cpu_flag(info, "bus_lock_detect");
    setting.detects = (reports || reports_bus_locks) && chosen != "off";
    setting.fatal = setting.detects && chosen == "fatal";
    if (info.empty())
        setting.text = "/proc/cpuinfo cannot be read";
    else if (!reports && !reports_bus_locks)
        setting.text = "no split_lock_detect in /proc/cpuinfo: the kernel does not detect them";
    else
        setting.text = "split_lock_detect=" + (chosen.empty() ? "warn (the default)" : chosen);
    if (setting.detects && !setting.fatal && mitigate)
        setting.text += ", split_lock_mitigate=" + std::to_string(*mitigate) +
                        (*mitigate ? " (slowed down)" : " (not slowed down)");
    return setting;
}

} // namespace plumb::platform
