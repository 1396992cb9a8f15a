#include "platform/numa_nodes.h"

#include "platform/cpu_list.h"
#include "platform/node_stat.h"
#include "platform/read_file.h"

#include <algorithm>

namespace plumb::platform {

std::vector<NumaNode> read_numa_nodes(const std::string& sys_root) {
    const std::string folder = sys_root + "/devices/system/node/";
    const auto online = read_file(folder + "online");
    std::vector<NumaNode> nodes;
    for (const int number : online ? parse_cpu_list(*online).value_or(std::vector<int>{}) : std::vector<int>{}) {
        const std::string one = folder + "node" + std::to_string(number) + "/";
        NumaNode node{.node = number, .cpus = {}, .total_bytes = 0, .distances = {}};
        if (const auto cpus = read_file(one + "cpulist"))
            node.cpus = parse_cpu_list(*cpus).value_or(std::vector<int>{});
        if (const auto memory = read_file(one + "meminfo"))
            node.total_bytes = parse_node_memory(number, *memory, "").total_bytes;
        if (const auto distances = read_file(one + "distance")) {
            std::string_view rest = *distances;
            for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest))
                node.distances.push_back(static_cast<int>(std::min<uint64_t>(to_u64(word), 255)));
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

size_t memory_node_count(const std::vector<NumaNode>& nodes) {
    return static_cast<size_t>(std::ranges::count_if(nodes, [](const NumaNode& node) { return node.total_bytes > 0; }));
}

bool numa_is_off(const std::string& proc_root) {
    const auto text = read_file(proc_root + "/cmdline");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    std::string_view line = next_line(rest);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
        if (word == "numa=off")
            return true;
    return false;
}

bool balances_automatically(const std::string& proc_root) {
    return read_number(proc_root + "/sys/kernel/numa_balancing").value_or(0) > 0;
}

} // namespace plumb::platform
