// Threads: their life, where they were placed, the regions they named, and how the kernel scheduled them.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct ThreadStart {
    RecordHeader header;     //     header.tid is the new thread
    uint64_t time_ns;        //  8
    Address start_routine;   // 16  address, 0: the first thread
    uint32_t creator_tid;    // 24
    NodeId creation_path;    // 28
};
static_assert(sizeof(ThreadStart) == 32);

struct ThreadEnd {
    RecordHeader header;
    uint64_t time_ns;     //  8
    uint64_t cpu_time_ns; // 16  CLOCK_THREAD_CPUTIME_ID
};
static_assert(sizeof(ThreadEnd) == 24);

struct ThreadName {
    RecordHeader header;
    StringId name;    //  8
    uint32_t padding; // 12
};
static_assert(sizeof(ThreadName) == 16);

struct Placement {
    RecordHeader header;  //     header.tid: the thread
    uint64_t time_ns;     //  8
    uint32_t slot;        // 16  running number in the group
    int32_t cpu;          // 20  operating-system CPU number, -1: refused
    int32_t memory_node;  // 24  bound memory to it, -1: not bound
    int32_t error;        // 28  errno of the refusal
};
static_assert(sizeof(Placement) == 32);

struct Region {
    RecordHeader header;
    uint64_t time_ns; //  8
    StringId name;    // 16
    uint32_t begin;   // 20  1: begins, 0: ends
};
static_assert(sizeof(Region) == 24);

struct ThreadSchedule {
    RecordHeader header;          //     header.tid: the thread
    uint32_t pid;                 //  8
    StringId name;                // 12  comm
    uint64_t first_ns;            // 16  first seen
    uint64_t last_ns;             // 24  last read
    uint64_t run_ns;              // 32  on a CPU (schedstat)
    uint64_t run_delay_ns;        // 40  runnable but waiting for a CPU (schedstat)
    uint64_t user_ns;             // 48
    uint64_t system_ns;           // 56
    uint64_t voluntary_switches;  // 64
    uint64_t involuntary_switches; // 72
    uint64_t migrations;          // 80  seen between reads, a lower bound, unless kScheduleExactMigrations
    uint64_t minor_faults;        // 88
    uint64_t major_faults;        // 96
    StringId allowed_cpus;        // 104  list format, as last seen
    uint32_t flags;               // 108 ThreadScheduleFlags
    uint32_t inner_tid;           // 112 its tid in a PID namespace below the writer's, 0: it is in the writer's; since 1.4
    uint32_t padding;             // 116
};
static_assert(sizeof(ThreadSchedule) == 120);
enum ThreadScheduleFlags : uint32_t {
    kScheduleExactMigrations = 1u << 0, // migrations are the kernel's own count
    kScheduleEnded = 1u << 1,           // the thread ended
};

// Intervals lengthen as a run goes on, so that their number grows with the logarithm of its length. A thread
// (or CPU) that did nothing new in an interval has no record for it.
struct ThreadInterval {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    int32_t cpu;           // 12  last CPU it ran on
    uint64_t begin_ns;     // 16
    uint64_t end_ns;       // 24
    uint64_t run_ns;       // 32
    uint64_t run_delay_ns; // 40
    uint32_t migrations;   // 48
    uint32_t state;        // 52  'R', 'S', 'D', ... at the end
};
static_assert(sizeof(ThreadInterval) == 56);

} // namespace plumb::trace
