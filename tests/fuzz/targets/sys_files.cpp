#include "memory_file.h"
#include "feed.h"
#include "target.h"

#include "platform/cache_levels.h"
#include "platform/cpu_paths.h"
#include "platform/cpuset.h"
#include "platform/huge_pages.h"
#include "platform/machine_cache.h"
#include "platform/memory_counters.h"
#include "platform/node_stat.h"
#include "platform/numa_nodes.h"
#include "platform/split_lock_setting.h"
#include "platform/task_stat.h"

#include <filesystem>
#include <fstream>

namespace plumb::fuzz {

namespace {

struct File {
    const char* path;
    const char* seed;
};

const File kFiles[] = {
    {"sys/devices/system/node/online", "0-1\n"},
    {"sys/devices/system/node/node0/cpulist", "0\n"},
    {"sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1000 kB\nNode 0 MemFree: 10 kB\n"},
    {"sys/devices/system/node/node0/distance", "10 20\n"},
    {"sys/devices/system/node/node0/numastat", "numa_hit 5\nnuma_miss 1\n"},
    {"sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/number_of_sets", "64\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/ways_of_associativity", "8\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n"},
    {"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n"},
    {"sys/fs/cgroup/job/cpuset.cpus.effective", "0\n"},
    {"proc/self/cgroup", "0::/job\n"},
    {"proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"},
    {"proc/cpuinfo", "vendor_id\t: X\nmodel\t: 1\nflags\t: fpu split_lock_detect\n\n"},
    {"proc/cmdline", "quiet numa=off split_lock_detect=fatal\n"},
    {"proc/sys/kernel/split_lock_mitigate", "1\n"},
    {"proc/sys/kernel/numa_balancing", "1\n"},
    {"proc/sys/kernel/random/boot_id", "1234\n"},
    {"proc/vmstat", "numa_hit 5\n"},
    {"proc/42/numa_maps", "7f0000 bind:0-1 anon=1\n"},
    {"proc/42/statm", "100 50 1\n"},
    {"proc/42/status", "THP_enabled:\t0\n"},
};

constexpr char kEnd = '\v'; // of a file's content in an input

} // namespace

// The contents of the files above, in their order.
void run_sys_files(Bytes input) {
    static std::vector<std::string> written(std::size(kFiles));
    const std::string root = scratch_folder() + "/sys_files";
    Feed feed(input);
    for (size_t i = 0; i < std::size(kFiles); ++i) {
        const std::string content(feed.until(kEnd));
        if (content == written[i] && !content.empty())
            continue;
        const std::filesystem::path path = root + "/" + kFiles[i].path;
        if (written[i].empty())
            std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
        written[i] = content;
    }
    for (const platform::CpuPath& path : platform::spread(platform::read_cpu_paths(root, {0, 1})))
        require(path.core >= 0 && path.cache >= 0 && path.node >= 0);
    for (const platform::CacheLevel& cache : platform::read_cache_levels(root, 0))
        platform::set_use(cache, 4096, 64);
    platform::read_huge_page_settings(root);
    platform::read_numa_nodes(root + "/sys");
    platform::numa_is_off(root + "/proc");
    platform::balances_automatically(root + "/proc");
    platform::cpuset_cpus(root);
    platform::allowed_cpus(root, {0, 1}, true);
    platform::read_split_lock_setting(root);
    platform::machine_identity(root);
    platform::read_memory_counters(root);
    platform::read_node_memory(root + "/proc", root + "/sys");
    platform::read_memory_policy(root + "/proc", 42);
    platform::resident_bytes(root + "/proc", 42);
    platform::refuses_huge_pages(root + "/proc", 42);
}

Seeds seeds_of_sys_files() {
    std::string all;
    for (const File& file : kFiles)
        all += file.seed + std::string(1, kEnd);
    return {{"machine", all}};
}

} // namespace plumb::fuzz
