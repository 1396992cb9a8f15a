// What the JSON and HTML reports say about NUMA nodes: who reached for whose memory, which objects that was about and where
// each part of them lies, and what filled the nodes meanwhile.
#pragma once

#include "analyses/memory/memory_objects.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

using NodeShares = std::vector<std::pair<int, double>>; // node, share of the accesses; the most first

inline constexpr int kNoNode = -1, kSeveralNodes = -2;

struct MemoryPart { // a 64th of an object
    int held_by = kNoNode;   // node of most of its pages that were seen; kNoNode: none was, kSeveralNodes: none has most
    int used_from = kNoNode; // node of the CPUs that used it most; likewise
};

struct MemoryObjectRow { // objects of one name, in whatever processes they are
    std::string name;    // as in a sentence: "`table`", "the memory allocated at solver.c:17"
    std::string subject, kind; // as a finding names it
    std::string place;   // line with most of its remote accesses, of its accesses where none is
    uint64_t bytes = 0;  // 0: not known
    size_t processes = 0;
    uint64_t samples = 0;
    double seconds = 0, remote_s = 0; // CPU time of the accesses to it, and of those from other nodes
    NodeShares held_by, used_from;
    std::vector<MemoryPart> parts; // of the process that spends most time on it from other nodes
};

struct NodeMoment {
    double seconds = 0; // since the launch
    uint64_t anonymous_bytes = 0, file_bytes = 0, free_bytes = 0;
};

struct NodeRow {
    std::string host;
    int node = 0;
    uint64_t total_bytes = 0;
    std::vector<NodeMoment> moments;
};

struct MemorySummary {
    bool recorded = false; // on a host with several nodes
    NodeTraffic traffic;
    std::vector<MemoryObjectRow> objects; // by time from other nodes, then time
    size_t objects_left_out = 0;
    std::vector<NodeRow> nodes; // with memory, by host and number
};

MemorySummary summarise_memory(const model::Run& run, const MemoryUse& use, size_t most_objects);

} // namespace plumb
