#include "record/counters/cpu_kinds.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace plumb::record {

std::vector<std::vector<int>> cpu_kinds(const std::string& root) {
    namespace fs = std::filesystem;
    std::map<std::string, std::vector<int>> kinds; // by device: the order of a directory means nothing
    std::error_code error;
    // Devices that count for threads say on which CPUs in "cpus"; those of a whole package have a "cpumask" instead.
    for (const auto& device : fs::directory_iterator(root + "/sys/bus/event_source/devices", error))
        if (const auto text = platform::read_file(device.path() / "cpus"))
            if (auto cpus = platform::parse_cpu_list(*text); cpus && !cpus->empty())
                kinds.emplace(device.path().filename(), std::move(*cpus));
    std::vector<std::vector<int>> lists;
    for (auto& [device, cpus] : kinds)
        if (std::ranges::find(lists, cpus) == lists.end()) // several devices of the same CPUs are one kind
            lists.push_back(std::move(cpus));
    return lists.size() > 1 ? lists : std::vector<std::vector<int>>{};
}

std::pair<int, int> unlike_cpus(const std::vector<std::vector<int>>& kinds, const std::vector<int>& allowed) {
    const auto kind_of = [&](int cpu) {
        return std::ranges::find_if(kinds, [&](const auto& cpus) { return std::ranges::find(cpus, cpu) != cpus.end(); });
    };
    const int first = allowed.front();
    for (const int cpu : allowed)
        if (kind_of(cpu) != kind_of(first))
            return {first, cpu};
    return {first, allowed.back()};
}

} // namespace plumb::record
