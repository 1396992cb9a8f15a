#include "diagnoses/memory/kernel_numa_counters.h"

#include <fmt/format.h>

namespace plumb {

std::map<std::string, uint64_t> memory_counts_of(const model::Host& host) {
    constexpr std::string_view kMark = "memory:"; // as the recorder names them
    std::map<std::string, uint64_t> counts;
    for (const model::EventCount& event : host.event_counts)
        if (event.name.starts_with(kMark))
            counts[event.name.substr(kMark.size())] += event.count;
    return counts;
}

KernelNumaCounters kernel_numa_counters_of(const model::Host& host) {
    KernelNumaCounters witness;
    for (const auto& [name, count] : memory_counts_of(host)) {
        if (name.starts_with("node") && name.ends_with(":numa_miss"))
            witness.elsewhere_pages += count;
        else if (name.starts_with("node") && name.ends_with(":other_node"))
            witness.other_node_pages += count;
        else if (name.starts_with("node") && name.ends_with(":local_node"))
            witness.local_pages += count;
        else if (name == "pgmigrate_success")
            witness.migrated_pages += count;
    }
    return witness;
}

void add_kernel_numa_counters(const model::Host* host, Finding& finding) {
    if (!host || memory_counts_of(*host).empty())
        return;
    const KernelNumaCounters witness = kernel_numa_counters_of(*host);
    auto& evidence = finding.evidence;
    evidence["allocated_elsewhere_page_count"] = static_cast<int64_t>(witness.elsewhere_pages);
    evidence["allocated_for_other_nodes_page_count"] = static_cast<int64_t>(witness.other_node_pages);
    evidence["migrated_page_count"] = static_cast<int64_t>(witness.migrated_pages);
    evidence["second_witness"] = fmt::format(
        "{} pages allocated on another node than requested (numastat, vmstat: all programs on the machine during the run)",
        witness.elsewhere_pages);
}

} // namespace plumb
