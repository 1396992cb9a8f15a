// NUMA nodes full of cached files, so that what programs asked for there went to other nodes. What that costs is not known from
// outside.
#include "analyses/memory/memory_spill.h"
#include "diagnoses/machine/machine_findings.h"
#include "diagnoses/memory/kernel_numa_counters.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

std::vector<Finding> full_nodes(const MachineInput& input) {
    std::vector<Finding> findings;
    for (const model::Host& host : input.paths.run().hosts)
        for (const NodeSpill& spill : spills_of(host)) {
            const double share = static_cast<double>(spill.spilled_bytes) / static_cast<double>(spill.wanted_bytes);
            Finding finding;
            finding.id = "page-cache-spill";
            finding.title = fmt::format(
                "Node {} is full of cached files ({} of {}): {} of the memory that programs requested there went to other "
                "nodes",
                spill.node, format_bytes(static_cast<double>(spill.file_bytes)),
                format_bytes(static_cast<double>(spill.total_bytes)), format_fraction(share));
            finding.confidence = 0.9;
            finding.cost = {0, 0, "bound"};
            finding.gain = {0, "not known from outside: it depends on how often programs access this memory"};
            finding.subject = {"node", std::to_string(spill.node), {{"host", host.name}}};
            finding.evidence["cached_file_bytes"] = static_cast<int64_t>(spill.file_bytes);
            finding.evidence["least_free_bytes"] = static_cast<int64_t>(spill.free_bytes);
            finding.evidence["spilled_bytes"] = static_cast<int64_t>(spill.spilled_bytes);
            finding.evidence["spilled_fraction"] = share;
            add_kernel_numa_counters(&host, finding);
            finding.advice.push_back({"Drop cached files between jobs", "for administrators, in the job's prologue", "system",
                                      "sync; echo 1 > /proc/sys/vm/drop_caches"});
            findings.push_back(std::move(finding));
        }
    return findings;
}

} // namespace plumb
