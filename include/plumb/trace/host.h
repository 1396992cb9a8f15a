// The host and what else it did meanwhile.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct CpuInterval {
    RecordHeader header;
    uint32_t cpu;        //  8
    uint32_t flags;      // 12  CpuIntervalFlags
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t user_ns;    // 32  from /proc/stat, tick resolution
    uint64_t system_ns;  // 40
    uint64_t idle_ns;    // 48  idle and waiting for I/O
    uint64_t interrupt_ns; // 56  hard and soft
    uint64_t steal_ns;   // 64
    uint64_t run_own_ns; // 72  part of it spent by threads of this run (schedstat), as last seen on this CPU
};
static_assert(sizeof(CpuInterval) == 80);
enum CpuIntervalFlags : uint32_t {
    kCpuAllowed = 1u << 0, // the run may use this CPU
};

struct OtherProcess {
    RecordHeader header; //     header.tid: its pid
    StringId name;       //  8  comm
    int32_t last_cpu;    // 12
    uint64_t cpu_ns;     // 16  while this run was recorded
    uint64_t first_ns;   // 24
    uint64_t last_ns;    // 32
    StringId allowed_cpus; // 40
    uint32_t user_id;    // 44
    uint32_t flags;      // 48  OtherProcessFlags; since format 1.11
    uint32_t padding;
};
static_assert(sizeof(OtherProcess) == 56);
enum OtherProcessFlags : uint32_t {
    kLeavesCpus = 1u << 0, // its priority is so low that it hardly takes CPU time that the run wants
};

// What a process outside the run used between two looks at it.
struct OtherActivity {
    RecordHeader header; //     header.tid: its pid
    int32_t cpu;         //  8  on which it ran last
    uint32_t padding;    // 12
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t cpu_ns;     // 32
};
static_assert(sizeof(OtherActivity) == 40);

struct InterruptSource {
    RecordHeader header;
    StringId name;  //  8  as /proc/interrupts names it; "softirq NET_RX" as /proc/softirqs does
    uint32_t cpu;   // 12
    uint64_t count; // 16  while this run was recorded
};
static_assert(sizeof(InterruptSource) == 24);

struct Topology {
    RecordHeader header;
    StringId xml;          //  8  first of xml_parts consecutive string ids that make one hwloc XML document
    uint32_t xml_parts;    // 12
    StringId allowed_cpus; // 16  list format: what the run was allowed when it began
    uint32_t cpu_count;    // 20  online
};
static_assert(sizeof(Topology) == 24);

} // namespace plumb::trace
