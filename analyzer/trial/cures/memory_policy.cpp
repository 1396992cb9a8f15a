// On which NUMA node pages lie, and cached files that keep them off it.
#include "trial/cures/families.h"

namespace plumb::trial {

std::vector<Cure> memory_policy_cures(const Facts& facts) {
    const std::string one_node = facts.memory_nodes < 2 ? "all memory is on one NUMA node" : "";
    Cure interleave{.id = "interleave", .what = "lay pages on all NUMA nodes in turn", .family = "memory-policy", .change = {}};
    interleave.change.launcher = {"numactl", "--interleave=all"};
    interleave.answers = {"--interleave=all"};
    interleave.why_not = !one_node.empty() ? one_node : facts.has_numactl ? "" : "numactl is not installed";
    Cure sweep{
        .id = "sweep", .what = "drop cached files from the NUMA nodes before the start", .family = "sweep", .change = {}};
    sweep.answers = {"--sweep"};
    sweep.why_not =
        !one_node.empty()
            ? one_node
            : "it changes the next runs as well, so that no run without it is left to compare with: see plumb run --sweep";
    return {interleave, sweep};
}

} // namespace plumb::trial
