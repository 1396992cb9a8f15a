#include "platform/cache_levels.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"

#include <algorithm>

namespace plumb::platform {

namespace {

constexpr int kMostCaches = 16;          // of one CPU
constexpr int64_t kMostSets = 1 << 24;   // more is no cache

} // namespace

std::vector<CacheLevel> read_cache_levels(const std::string& root, int cpu) {
    std::vector<CacheLevel> levels;
    for (int index = 0; index < kMostCaches; ++index) {
        const std::string folder =
            root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
        const auto type = read_file(folder + "type");
        if (!type)
            break;
        if (!type->starts_with("Data") && !type->starts_with("Unified"))
            continue;
        const auto number = [&](const char* name) { return read_number(folder + name).value_or(0); };
        const int64_t level = number("level"), sets = number("number_of_sets"), ways = number("ways_of_associativity"),
                      line = number("coherency_line_size");
        if (level > 0 && level < 16 && sets > 0 && sets <= kMostSets && ways > 0 && ways <= 4096 && line > 0 &&
            line <= 4096)
            levels.push_back({static_cast<uint32_t>(level), static_cast<uint32_t>(sets), static_cast<uint32_t>(ways),
                              static_cast<uint32_t>(line),
                              parse_cpu_list(read_file(folder + "shared_cpu_list").value_or("")).value_or(
                                  std::vector<int>{})});
    }
    std::ranges::stable_sort(levels, {}, &CacheLevel::level);
    return levels;
}

SetUse set_use(const CacheLevel& cache, uint64_t stride, uint64_t accesses) {
    SetUse use;
    std::vector<uint32_t> lines(cache.sets);
    uint64_t last = UINT64_MAX;
    for (uint64_t i = 0; i < accesses; ++i) {
        const uint64_t line = i * stride / cache.line_bytes;
        if (line == last)
            continue;
        last = line;
        ++use.lines;
        ++lines[line % cache.sets];
    }
    for (const uint32_t count : lines) {
        use.sets += count > 0;
        use.left_over += count > cache.ways ? count - cache.ways : 0;
    }
    return use;
}

} // namespace plumb::platform
