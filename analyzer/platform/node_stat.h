// What /proc and /sys say about the whole node. Roots are "/proc" and "/sys" except in tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

// Since boot; resolution: the clock tick. idle includes waiting for I/O, interrupt is hard and soft; guests are user.
struct CpuTimes {
    uint64_t user_ns = 0, system_ns = 0, idle_ns = 0, interrupt_ns = 0, steal_ns = 0;
};

std::map<int, CpuTimes> parse_cpu_times(std::string_view proc_stat, uint64_t ticks_per_second);
std::map<int, CpuTimes> read_cpu_times(const std::string& proc_root);

// Counts since boot by CPU, in the order of /proc/interrupts. The name is the device's where there is one
// ("24 virtio1-req.0"), else the kernel's ("LOC Local timer interrupts").
struct InterruptCounts {
    std::string name;
    std::vector<std::pair<int, uint64_t>> counts; // CPU, count
};
std::vector<InterruptCounts> parse_interrupts(std::string_view text);
std::vector<InterruptCounts> read_interrupts(const std::string& proc_root);
std::vector<InterruptCounts> read_softirqs(const std::string& proc_root); // in the same form; "softirq NET_RX"

struct NodeMemoryStat {
    int node = 0;
    uint64_t total_bytes = 0, free_bytes = 0, file_bytes = 0, anonymous_bytes = 0;
    uint64_t reclaimable_bytes = 0; // of file_bytes: not tmpfs, not locked
    uint64_t local_allocations = 0, missed_allocations = 0, foreign_allocations = 0; // pages since boot
};
NodeMemoryStat parse_node_memory(int node, std::string_view meminfo, std::string_view numastat);

// Every NUMA node that has memory; a kernel without NUMA has one, 0, described by /proc/meminfo. Where there is but one, its total and
// what is free are at least those of the machine.
std::vector<NodeMemoryStat> read_node_memory(const std::string& proc_root, const std::string& sys_root);

} // namespace plumb::platform
