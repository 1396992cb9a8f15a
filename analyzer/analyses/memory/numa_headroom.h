// What the threads of a run want of the memory of the nodes that they run on, against what these nodes have: threads that
// are packed more densely than their memory is get the rest of it from other nodes.
#pragma once

#include "analyses/memory/memory_spill.h"
#include "model/run.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace plumb {

// Of what a node has, this much can be filled: the kernel keeps a reserve and needs page tables.
inline constexpr double kUsableRoom = 0.95;

struct Tenant { // a thread and what it touches first; the first thread of a process is one even where it touches nothing
    size_t process = 0; // index into Run::processes
    uint32_t thread = 0;
    uint64_t bytes = 0;
    std::map<int, uint64_t> by_node; // of the CPU that it touched them from
    int main_node() const;           // -1: it has none
};

struct NumaHeadroom {
    int node = 0;
    uint64_t total_bytes = 0;
    uint64_t room_bytes = 0;   // for this run: free, or cached files that give way, at the best moment
    uint64_t needed_bytes = 0; // by tenants that live at one time, with what they share
    uint64_t shared_bytes = 0; // of them, segments of several processes, counted once
    NodeSpill spill;

    bool overflows() const; // more is needed than there is, and allocations did go elsewhere
};

struct HostHeadroom {
    std::map<int, NumaHeadroom> nodes;
    std::vector<Tenant> tenants; // those at the moment when nodes lack most; in the order in which plumb gives them CPUs
    bool touch_known = false;    // known from page faults who needs how much of it; else it is taken for evenly shared
};

// Empty where footprints or the nodes' memory were not recorded.
HostHeadroom headroom_of(const model::Run& run, const model::Host& host);

using CrowdedNodes = std::map<const model::Host*, std::set<int>>;
CrowdedNodes crowded_nodes(const model::Run& run);

// The process asked for pages of all nodes in turn: none of them is at a wrong place.
bool is_interleaved(const model::Process& process);

} // namespace plumb
