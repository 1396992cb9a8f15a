#include "platform/cpu_paths.h"

#include "platform/cache_levels.h"
#include "platform/cpu_list.h"
#include "platform/numa_nodes.h"
#include "platform/read_file.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumb::platform {

std::vector<CpuPath> read_cpu_paths(const std::string& root, const std::vector<int>& cpus) {
    std::map<int, int> nodes;
    for (const NumaNode& node : read_numa_nodes(root + "/sys"))
        for (const int cpu : node.cpus)
            nodes[cpu] = node.node;
    std::vector<CpuPath> paths;
    for (const int cpu : cpus) {
        CpuPath path{cpu, cpu, cpu, 0, 0};
        const std::string topology = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
        const auto siblings = read_file(topology + "thread_siblings_list");
        if (const auto same = parse_cpu_list(siblings.value_or("")); same && !same->empty())
            path.core = same->front();
        if (const auto caches = read_cache_levels(root, cpu); !caches.empty()) {
            path.cache_bytes = caches.back().bytes();
            if (!caches.back().cpus.empty())
                path.cache = caches.back().cpus.front();
        }
        if (const auto node = nodes.find(cpu); node != nodes.end())
            path.node = node->second;
        paths.push_back(path);
    }
    return paths;
}

std::vector<CpuPath> spread(std::vector<CpuPath> cpus) {
    std::vector<CpuPath> order;
    std::map<int, int> cores, nodes, caches;
    while (!cpus.empty()) {
        const auto next = std::ranges::min_element(cpus, {}, [&](const CpuPath& path) {
            return std::tuple(cores[path.core], nodes[path.node], caches[path.cache], path.cpu);
        });
        ++cores[next->core];
        ++nodes[next->node];
        ++caches[next->cache];
        order.push_back(*next);
        cpus.erase(next);
    }
    return order;
}

} // namespace plumb::platform
