#include "platform/node_stat.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"
#include "support/softirqs.h"

#include <unistd.h>

namespace plumb::platform {

namespace {

// Of lines such as "Node 0 MemFree: 123 kB" and "MemFree: 123 kB".
uint64_t kilobytes_of(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        std::string_view line = next_line(text);
        std::string_view word = next_word(line);
        if (word == "Node") {
            next_word(line);
            word = next_word(line);
        }
        if (word == key)
            return to_u64(next_word(line)) * 1024;
    }
    return 0;
}

uint64_t count_of(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        std::string_view line = next_line(text);
        if (next_word(line) == key)
            return to_u64(next_word(line));
    }
    return 0;
}

// A kernel that takes memory into use bit by bit counts into a node what it has of it so far (seen on virtual machines with Linux
// 6.18: 7 of 24 GiB). The only node has all that the machine has.
void complete_only_node(NodeMemoryStat& node, std::string_view machine_meminfo) {
    const uint64_t total = kilobytes_of(machine_meminfo, "MemTotal:");
    if (total <= node.total_bytes)
        return;
    node.total_bytes = total;
    node.free_bytes = kilobytes_of(machine_meminfo, "MemFree:");
}

} // namespace

std::map<int, CpuTimes> parse_cpu_times(std::string_view text, uint64_t ticks_per_second) {
    std::map<int, CpuTimes> times;
    const uint64_t tick_ns = 1'000'000'000 / (ticks_per_second ? ticks_per_second : 100);
    while (!text.empty()) {
        std::string_view line = next_line(text);
        const std::string_view name = next_word(line);
        if (!name.starts_with("cpu") || name.size() == 3)
            continue;
        uint64_t field[8]; // user nice system idle iowait irq softirq steal; guest time is part of user
        for (uint64_t& value : field)
            value = to_u64(next_word(line)) * tick_ns;
        times[static_cast<int>(to_u64(name.substr(3)))] = {field[0] + field[1], field[2], field[3] + field[4],
                                                            field[5] + field[6], field[7]};
    }
    return times;
}

std::map<int, CpuTimes> read_cpu_times(const std::string& proc_root) {
    static const uint64_t ticks_per_second = sysconf(_SC_CLK_TCK);
    const auto text = read_file(proc_root + "/stat");
    return text ? parse_cpu_times(*text, ticks_per_second) : std::map<int, CpuTimes>{};
}

std::vector<InterruptCounts> parse_interrupts(std::string_view text) {
    std::vector<int> cpus;
    std::string_view heading = next_line(text);
    for (std::string_view word = next_word(heading); word.starts_with("CPU"); word = next_word(heading))
        cpus.push_back(static_cast<int>(to_u64(word.substr(3))));
    std::vector<InterruptCounts> sources;
    while (!text.empty()) {
        std::string_view line = next_line(text);
        std::string_view name = next_word(line);
        if (name.empty() || name.back() != ':')
            continue;
        name.remove_suffix(1);
        InterruptCounts source;
        for (const int cpu : cpus) {
            const std::string_view count = next_word(line);
            if (count.empty())
                break; // sources such as ERR have one count for all CPUs
            source.counts.emplace_back(cpu, to_u64(count));
        }
        if (source.counts.size() < cpus.size())
            continue;
        // A numbered line goes on with the controller, the line's own number and kind, and the device.
        if (name[0] >= '0' && name[0] <= '9') {
            std::string_view last;
            for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
                last = word;
            source.name = std::string(name) + (last.empty() ? "" : " " + std::string(last));
        } else {
            const size_t begin = line.find_first_not_of(' ');
            source.name = std::string(name);
            if (begin != std::string_view::npos)
                source.name += " " + std::string(line.substr(begin));
        }
        sources.push_back(std::move(source));
    }
    return sources;
}

std::vector<InterruptCounts> read_interrupts(const std::string& proc_root) {
    const auto text = read_file(proc_root + "/interrupts");
    return text ? parse_interrupts(*text) : std::vector<InterruptCounts>{};
}

std::vector<InterruptCounts> read_softirqs(const std::string& proc_root) {
    const auto text = read_file(proc_root + "/softirqs");
    std::vector<InterruptCounts> sources = text ? parse_interrupts(*text) : std::vector<InterruptCounts>{};
    for (InterruptCounts& source : sources)
        source.name.insert(0, kSoftirq);
    return sources;
}

NodeMemoryStat parse_node_memory(int node, std::string_view meminfo, std::string_view numastat) {
    NodeMemoryStat memory;
    memory.node = node;
    memory.total_bytes = kilobytes_of(meminfo, "MemTotal:");
    memory.free_bytes = kilobytes_of(meminfo, "MemFree:");
    memory.file_bytes = kilobytes_of(meminfo, "FilePages:");
    memory.anonymous_bytes = kilobytes_of(meminfo, "AnonPages:");
    memory.reclaimable_bytes = kilobytes_of(meminfo, "Active(file):") + kilobytes_of(meminfo, "Inactive(file):");
    if (memory.file_bytes == 0)
        memory.file_bytes = kilobytes_of(meminfo, "Cached:"); // /proc/meminfo's name for it
    memory.local_allocations = count_of(numastat, "numa_hit");
    memory.missed_allocations = count_of(numastat, "numa_miss");
    memory.foreign_allocations = count_of(numastat, "numa_foreign");
    return memory;
}

std::vector<NodeMemoryStat> read_node_memory(const std::string& proc_root, const std::string& sys_root) {
    const std::string folder = sys_root + "/devices/system/node/";
    std::vector<NodeMemoryStat> nodes;
    const auto online = read_file(folder + "online");
    for (const int node : online ? parse_cpu_list(*online).value_or(std::vector<int>{}) : std::vector<int>{}) {
        const std::string place = folder + "node" + std::to_string(node);
        const auto meminfo = read_file(place + "/meminfo"), numastat = read_file(place + "/numastat");
        if (meminfo && kilobytes_of(*meminfo, "MemTotal:") > 0)
            nodes.push_back(parse_node_memory(node, *meminfo, numastat.value_or("")));
    }
    if (nodes.size() <= 1)
        if (const auto meminfo = read_file(proc_root + "/meminfo")) {
            if (nodes.empty())
                nodes.push_back(parse_node_memory(0, *meminfo, ""));
            complete_only_node(nodes.front(), *meminfo);
        }
    return nodes;
}

} // namespace plumb::platform
