#include "platform/memory_counters.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"

#include <algorithm>
#include <array>

namespace plumb::platform {

namespace {

constexpr std::array<std::string_view, 3> kFamilies = {"numa_", "pgmigrate_", "thp_"};
constexpr size_t kMostNodes = 1024;

bool is_count(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

template <class Take> void for_each_count(std::string_view text, Take take) {
    while (!text.empty()) {
        std::string_view line = next_line(text);
        const std::string_view name = next_word(line), count = next_word(line);
        if (is_count(count))
            take(name, to_u64(count));
    }
}

} // namespace

MemoryCounters parse_vmstat(std::string_view text) {
    MemoryCounters counters;
    for_each_count(text, [&](std::string_view name, uint64_t count) {
        if (std::ranges::any_of(kFamilies, [&](std::string_view family) { return name.starts_with(family); }))
            counters.emplace(name, count);
    });
    return counters;
}

MemoryCounters parse_numastat(int node, std::string_view text) {
    MemoryCounters counters;
    for_each_count(text, [&](std::string_view name, uint64_t count) {
        counters.emplace("node" + std::to_string(node) + ":" + std::string(name), count);
    });
    return counters;
}

MemoryCounters read_memory_counters(const std::string& root) {
    MemoryCounters counters = parse_vmstat(read_file(root + "/proc/vmstat").value_or(""));
    const std::string folder = root + "/sys/devices/system/node/";
    std::vector<int> nodes = parse_cpu_list(read_file(folder + "online").value_or("")).value_or(std::vector<int>{});
    nodes.resize(std::min(nodes.size(), kMostNodes));
    for (const int node : nodes)
        counters.merge(parse_numastat(node, read_file(folder + "node" + std::to_string(node) + "/numastat").value_or("")));
    return counters;
}

MemoryCounters difference(const MemoryCounters& before, const MemoryCounters& after) {
    MemoryCounters grown;
    for (const auto& [name, count] : after)
        if (const auto first = before.find(name); first != before.end() && count > first->second)
            grown.emplace(name, count - first->second);
    return grown;
}

} // namespace plumb::platform
