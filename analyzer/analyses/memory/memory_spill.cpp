#include "analyses/memory/memory_spill.h"

#include <algorithm>
#include <map>

namespace plumb {

namespace {

constexpr uint64_t kPageBytes = 4096;           // numastat counts in these
constexpr uint64_t kLeastSpilled = 4 << 20;     // bytes
constexpr double kLeastSpilledShare = 0.05;     // of the allocations that were wanted there
constexpr double kLeastCached = 0.15;           // of the node's memory
constexpr double kMostFree = 0.15;              // likewise: from here on no allocation had to go elsewhere

double share(uint64_t part, uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace

bool NodeSpill::is_much() const {
    return spilled_bytes >= kLeastSpilled && share(spilled_bytes, wanted_bytes) >= kLeastSpilledShare;
}

std::vector<NodeSpill> node_spills(const model::Host& host) {
    std::map<int, std::pair<const model::NodeMemory*, const model::NodeMemory*>> ends; // first and last
    std::map<int, NodeSpill> spills;
    for (const model::NodeMemory& memory : host.memory) { // by time
        auto& [first, last] = ends[memory.node];
        NodeSpill& spill = spills[memory.node];
        if (!first) {
            first = &memory;
            spill.free_bytes = memory.free_bytes;
        }
        last = &memory;
        spill.node = memory.node;
        spill.total_bytes = memory.total_bytes;
        spill.file_bytes = std::max(spill.file_bytes, memory.file_bytes);
        spill.free_bytes = std::min(spill.free_bytes, memory.free_bytes);
    }
    std::vector<NodeSpill> found;
    if (ends.size() < 2)
        return found;
    for (auto& [node, spill] : spills) {
        const auto& [first, last] = ends[node];
        const auto since = [](uint64_t end, uint64_t begin) { return end > begin ? (end - begin) * kPageBytes : 0; };
        spill.spilled_bytes = since(last->foreign_allocations, first->foreign_allocations); // numa_foreign
        spill.wanted_bytes = spill.spilled_bytes + since(last->local_allocations, first->local_allocations);
        found.push_back(spill);
    }
    return found;
}

std::vector<NodeSpill> spills_of(const model::Host& host) {
    std::vector<NodeSpill> spills = node_spills(host);
    std::erase_if(spills, [](const NodeSpill& spill) {
        return !spill.is_much() || share(spill.file_bytes, spill.total_bytes) < kLeastCached ||
               share(spill.free_bytes, spill.total_bytes) > kMostFree;
    });
    return spills;
}

} // namespace plumb
