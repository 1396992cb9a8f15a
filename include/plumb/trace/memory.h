// Where memory is and which threads access it. All but NodeMemory and HugePages is recorded on hosts with more than one NUMA
// node that has memory. Nodes are numbered as the system numbers them, -1: not known.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct NodeMemory {
    RecordHeader header;
    uint32_t node;           //  8
    uint32_t padding;        // 12
    uint64_t time_ns;        // 16
    uint64_t total_bytes;    // 24
    uint64_t free_bytes;     // 32
    uint64_t file_bytes;     // 40  page cache
    uint64_t anonymous_bytes; // 48
    uint64_t local_allocations;  // 56  numastat, pages, since boot
    uint64_t missed_allocations; // 64  numa_miss: wanted elsewhere, got here
    uint64_t foreign_allocations; // 72  numa_foreign: wanted here, got elsewhere
    uint64_t reclaimable_bytes; // 80  page cache that makes room when it is needed: of files, not of tmpfs; since 1.3
};
static_assert(sizeof(NodeMemory) == 88);

struct NumaNode {
    RecordHeader header;  //     header.tid 0
    uint32_t node;        //  8
    uint32_t padding;     // 12
    uint64_t total_bytes; // 16  of memory, 0: it has CPUs only
    StringId cpus;        // 24  list format, empty: it has memory only
    StringId distances;   // 28  to all nodes in ascending order, separated by blanks: the firmware's, 10 is local
};
static_assert(sizeof(NumaNode) == 32);

enum MemoryAreaFlags : uint32_t {
    kAreaHeap = 1u << 0,     // the break
    kAreaStack = 1u << 1,    // of the first thread
    kAreaFile = 1u << 2,     // of a file, statics of programs and libraries included
    kAreaShared = 1u << 3,   // with other processes
    kAreaWritable = 1u << 4,
};

struct MemoryArea {
    RecordHeader header; //     header.tid 0
    uint32_t id;         //  8
    uint32_t pid;        // 12
    Address start;       // 16
    Address end;         // 24  first address behind it, at its largest
    uint64_t first_ns;   // 32  when it was first seen
    uint32_t flags;      // 40  MemoryAreaFlags
    StringId path;       // 44  as /proc/PID/maps names it, 0: anonymous
};
static_assert(sizeof(MemoryArea) == 48);

// Counted by thread, instruction, node of the CPU, node of the page, and part of the area (1/64 of it or less; more
// where a process has too many). Weighted by time, like AccessSite.
struct MemoryTraffic {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t area;         // 12  MemoryArea::id, 0: not known
    Address instruction;   // 16  address
    NodeId path;           // 24  of the first such sample, 0: not known
    uint32_t flags;        // 28  AlignFlags
    uint16_t width;        // 32  bytes
    int16_t cpu_node;      // 34
    int16_t page_node;     // 36
    uint16_t unknown;      // 38  why page_node is not known: errno of the page, 3 when the process had ended
    uint64_t samples;      // 40
    uint64_t time_ns;      // 48  what they stand for
    Address lowest_address;  // 56
    Address highest_address;  // 64
    Address last_address;  // 72
    uint64_t first_ns;     // 80
    uint64_t last_ns;      // 88
};
static_assert(sizeof(MemoryTraffic) == 96);

struct MemoryEpoch {
    RecordHeader header; //     header.tid: the thread
    uint32_t pid;        //  8
    int16_t cpu_node;    // 12
    int16_t page_node;   // 14
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t samples;    // 32
    uint64_t time_ns;    // 40  what they stand for
};
static_assert(sizeof(MemoryEpoch) == 48);

// Faults in user mode. The first one of a page decides on which node it lies; later ones (after fork, of files, of
// automatic NUMA balancing) count here as well.
struct FirstTouch {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t area;         // 12  MemoryArea::id, 0: not known
    Address instruction;   // 16  address
    NodeId path;           // 24
    int16_t cpu_node;      // 28
    int16_t page_node;     // 30  where the page lay soon after
    uint64_t samples;      // 32
    uint64_t faults;       // 40  what they stand for
    Address lowest_address;  // 48
    Address highest_address;  // 56
    uint64_t first_ns;     // 64
    uint64_t last_ns;      // 72
};
static_assert(sizeof(FirstTouch) == 80);

// A process has several: each holds what one part of the recorder watches, and 0 elsewhere. The largest values of /proc/PID/status
// (of hosts with more than one NUMA node that has memory), what it reads and writes, how its memory is laid out.
struct ProcessMemory {
    RecordHeader header;     //     header.tid 0
    uint32_t pid;            //  8
    StringId policy;         // 12  of the process, as /proc/PID/numa_maps shows it: "default", "interleave:0-1"; 0: not known
    uint64_t first_ns;       // 16  when it was first looked at: distinguishes the images of a pid that executed another program
    uint64_t last_ns;        // 24
    uint64_t peak_bytes;     // 32  resident, shared libraries and files included (VmHWM)
    uint64_t anonymous_bytes; // 40  resident and its own (RssAnon)
    uint64_t shared_bytes;   // 48  resident, of segments that it may share with others (RssShmem)
    uint64_t inherited_bytes; // 56  of anonymous_bytes, what it had at the first look, if fork alone made it: its parent's
    // By read, write and their kin, of files, pipes and sockets, ended children included; 0: not known; since 1.5.
    uint64_t read_calls;     // 64
    uint64_t read_bytes;     // 72
    uint64_t write_calls;    // 80
    uint64_t write_bytes;    // 88
    // Since 1.13; 0: not known.
    Address stack_start;         //  96  where its stack began at exec, after arguments and environment
    uint64_t environment_bytes;  // 104  at exec
    uint64_t backed_bytes;       // 112  resident, when it was last looked at in /proc/PID/smaps_rollup: not where that takes too long
    uint64_t huge_bytes;         // 120  of them, by huge pages
};
static_assert(sizeof(ProcessMemory) == 128);

// Only of hosts where a PageScatter was met. Words of the kernel's files, 0: it does not say.
struct HugePages {
    RecordHeader header;     //     header.tid 0
    StringId enabled;        //  8  always, madvise or never
    StringId defrag;         // 12
    StringId shared_enabled; // 16  of shared memory
    uint32_t padding;        // 20
    uint64_t page_bytes;     // 24  of a huge page
    uint64_t scan_pages;     // 32  of the base size, which khugepaged looks at before it sleeps
    uint64_t scan_sleep_ms;  // 40
};
static_assert(sizeof(HugePages) == 48);

} // namespace plumb::trace
