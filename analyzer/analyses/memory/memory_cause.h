// Why the accesses to a data object are remote, as far as its traffic and its page faults tell. Each object has one
// cause, so that no time is counted by two findings.
#pragma once

#include "analyses/memory/memory_objects.h"
#include "analyses/memory/numa_headroom.h"

#include <cstdint>
#include <map>
#include <vector>

namespace plumb {

enum class MemoryCause {
    none,               // it is local, or too little was seen
    hot_node,           // all of it lies on one node, and threads of several nodes share it
    serial_first_touch, // each thread uses a part of its own, but all of it lies where one thread touched it
    left_behind,        // a thread touched it, and then moved to another node
    crowded,            // its threads' node has less memory than what is placed there needs
    spilled,            // it was wanted on one node and landed on another: the page cache left no room
    other,
};

struct MemoryVerdict {
    MemoryCause cause = MemoryCause::none;
    int home = -1;            // node that most of it lies on
    double home_share = 0;    // 0..1, by samples
    double partition = 0;     // MemoryObject::partition()
    bool read_only = false;   // apart from the thread that touched it first
    bool touch_known = false; // known from page faults who touched it first
    uint32_t toucher = 0;     // thread, where known
    double touch_share = 0;   // of the sampled faults that were its
};

MemoryVerdict verdict_on(const model::Run& run, const MemoryObject& object, const CrowdedNodes& crowded);

// Objects of one name with one cause, in whatever processes they are.
struct MemoryCase {
    MemoryVerdict verdict; // of the heaviest object
    std::vector<const MemoryObject*> objects; // by remote time
    uint64_t samples = 0, remote_samples = 0, stores = 0;
    double seconds = 0, remote_s = 0, excess_s = 0;
    NodeMatrix matrix;

    void add(const MemoryObject& object);
};

// The node whose CPUs make most of the remote accesses to it; -1: none are.
int spilled_from(const MemoryObject& object);

// By cause; of each, by remote time. They refer to `objects`, which must outlive them.
using MemoryCases = std::map<MemoryCause, std::vector<MemoryCase>>;
MemoryCases memory_cases_of(const model::Run& run, const std::vector<MemoryObject>& objects);

} // namespace plumb
