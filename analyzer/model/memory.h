// Where a process's memory is and which CPUs access it, as sampled accesses and page faults showed. Nodes are numbered as
// the system numbers them; -1: not known.
#pragma once

#include "model/alignment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

struct NumaNode {
    int node = 0;
    uint64_t total_bytes = 0;   // 0: it has CPUs only
    std::vector<int> cpus;      // empty: it has memory only
    std::vector<int> distances; // to all nodes in ascending order, 10: local; empty: the firmware does not report them
};

// A mapping as /proc/PID/maps showed it.
struct MemoryArea {
    uint64_t start = 0, end = 0;
    bool heap = false, stack = false, file = false, shared = false, writable = false;
    std::string path; // "[heap]", "/dev/shm/x"; empty: anonymous
};

// Sampled accesses of one instruction by one thread to one part of an area, from one node to another. Weighted by time:
// what is waited for counts more.
struct MemoryTraffic {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t thread = 0;      // index into Process::threads
    uint32_t area = kNone;    // index into Memory::areas
    uint32_t path = 0;        // index into Process::paths: of the first such sample; 0: not known
    uint64_t instruction = 0; // address
    AccessKind kind;
    int cpu_node = -1, page_node = -1;
    uint64_t samples = 0, time_ns = 0;
    uint64_t lowest_address = 0, highest_address = 0, last_address = 0;
    uint64_t first_ns = 0, last_ns = 0;

    bool nodes_known() const { return cpu_node >= 0 && page_node >= 0; }
    bool remote() const { return nodes_known() && cpu_node != page_node; }
};

struct MemoryEpoch {
    uint32_t thread = 0; // index into Process::threads
    int cpu_node = -1, page_node = -1;
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t samples = 0, time_ns = 0;
};

// Page faults of one instruction and thread in one part of an area. The earliest of a page is its first touch.
struct FirstTouch {
    uint32_t thread = 0; // index into Process::threads
    uint32_t area = MemoryTraffic::kNone;
    uint32_t path = 0; // index into Process::paths
    uint64_t instruction = 0;
    int cpu_node = -1, page_node = -1;
    uint64_t samples = 0, faults = 0; // faults: what the samples stand for
    uint64_t lowest_address = 0, highest_address = 0;
    uint64_t first_ns = 0, last_ns = 0;
};

// A block of 1 MiB or more that the program allocated or mapped.
struct LargeBlock {
    uint64_t start = 0, bytes = 0;
    uint64_t from_ns = 0, until_ns = UINT64_MAX;
    uint32_t path = 0; // index into Process::paths: who allocated it
    bool by_allocator = false; // malloc and its like; else the program mapped it itself
};

// The most that the process was seen to have in memory at one time.
struct Footprint {
    uint64_t peak_bytes = 0;   // with shared libraries and files; 0: nobody looked
    uint64_t own_bytes = 0;    // anonymous, without what fork gave it of its parent's
    uint64_t shared_bytes = 0; // of segments that other processes may map as well
    std::string policy;        // of the process: "default", "interleave:0-1"; empty: not known
};

// What differs from run to run without anybody's doing. 0: not known.
struct MemoryLayout {
    uint64_t stack_start = 0; // address, at exec
    uint64_t environment_bytes = 0;
    uint64_t resident_bytes = 0, huge_bytes = 0; // when its pages were examined last, a large one while it was small; of it by huge pages
};

struct Memory {
    Footprint footprint;
    MemoryLayout layout;
    std::vector<MemoryArea> areas;
    std::vector<MemoryTraffic> traffic;
    std::vector<MemoryEpoch> epochs;   // by begin
    std::vector<FirstTouch> touches;   // by first_ns
    std::vector<LargeBlock> blocks;    // by from_ns
};

} // namespace plumb::model
