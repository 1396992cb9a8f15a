// The sampled accesses of a whole run by data object: which nodes its memory is on, which nodes' threads use it and how,
// who touched it first. Weighted by time.
#pragma once

#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/memory/node_matrix.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace plumb {

struct MemoryUser { // a thread
    uint64_t samples = 0, stores = 0, remote = 0; // samples
    std::map<int, uint64_t> cpu_nodes;            // samples by node of the CPU
    uint64_t lowest_address = UINT64_MAX, highest_address = 0;
};

struct MemoryObject {
    size_t process = 0; // index into Run::processes
    NamedMemory memory;
    NodeMatrix matrix;
    uint64_t samples = 0, remote_samples = 0, stores = 0; // of those whose nodes are known
    double seconds = 0, remote_s = 0;
    double excess_s = 0; // of remote_s: what the distances say that remote accesses take longer
    std::map<uint32_t, MemoryUser> users; // by thread
    std::vector<const model::MemoryTraffic*> traffic;
    LineShares lines, remote_lines;       // by time
    std::vector<const model::FirstTouch*> touches; // faults in it, by time

    // The node with most of the samples, and its share of them.
    std::pair<int, double> home() const;
    // How far threads keep to parts of their own: 1: no two use the same part; 1/n: all n use all of it alike.
    double partition() const;
    // The thread with most of the sampled faults, and its share of them, 0..1; share 0: no fault was sampled.
    std::pair<uint32_t, double> first_toucher() const;
    size_t user_nodes(double least_share) const; // nodes whose CPUs make at least this share of the samples
};

struct MemoryUse {
    bool recorded = false; // on at least one host with more than one node
    NodeMatrix matrix;     // of the whole run
    uint64_t samples = 0, remote_samples = 0, unknown_samples = 0;
    double seconds = 0, remote_s = 0;
    std::vector<MemoryObject> objects; // by remote time, then time
};

MemoryUse memory_use_of(model::CallPaths& paths);

// The distance of two nodes over that of one to itself; 0: the firmware does not report them.
double distance_ratio(const model::Host& host, int from, int to);

// The host that `process` ran on; null: none is known.
const model::Host* host_of(const model::Run& run, const model::Process& process);

} // namespace plumb
