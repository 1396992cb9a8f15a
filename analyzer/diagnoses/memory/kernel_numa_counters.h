// What the kernel itself counted about the memory of a machine while a run was recorded: numastat and vmstat, of all programs
// on it. Sampled accesses tell whose memory is where; these counts tell, independently of them, that pages went astray.
#pragma once

#include "diagnoses/finding.h"
#include "model/run.h"

#include <cstdint>
#include <map>
#include <string>

namespace plumb {

// By name as the kernel has it, "node0:numa_miss" of a node; only what was counted at all.
std::map<std::string, uint64_t> memory_counts_of(const model::Host& host);

struct KernelNumaCounters {
    uint64_t elsewhere_pages = 0; // allocated on another node than they were wanted on
    uint64_t other_node_pages = 0; // allocated for threads that ran on another node
    uint64_t migrated_pages = 0;  // moved afterwards
    uint64_t local_pages = 0;     // allocated for threads of the node
};
KernelNumaCounters kernel_numa_counters_of(const model::Host& host);

// Adds them to the evidence. Nothing where nothing was counted.
void add_kernel_numa_counters(const model::Host* host, Finding& finding);

} // namespace plumb
