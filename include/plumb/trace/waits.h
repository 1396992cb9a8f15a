// What threads waited for while they were off their CPUs, and what the wall time of the run depended on.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

// Sampled: the recorder looks at every thread about a hundred times a second or less. A look that finds the thread blocked
// stands for the time since the look before.
struct BlockedSite {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits, 0: not known
    int32_t system_call;   // 16  as the machine numbers them, -1: none (a page fault)
    StringId descriptor;   // 20  what its first argument refers to ("/a/file", "pipe:[4711]"), where that is a descriptor
    uint64_t object;       // 24  futex: the address waited on; else 0
    uint64_t looks;        // 32  that found it there
    uint64_t time_ns;      // 40  what they stand for
    uint64_t waits;        // 48  different waits among the looks, a lower bound
    uint64_t bytes;        // 56  read and write: requested, the sum over `waits`
    uint64_t first_ns;     // 64
    uint64_t last_ns;      // 72
    uint64_t wall_ns;      // 80  1.5: of the run's wall time, what depended on this wait (see ThreadWall)
    uint64_t alone_ns;     // 88  1.5: of it, while no other thread of the run ran or waited for a device
};
static_assert(sizeof(BlockedSite) == 96);

// The owner word of a mutex or reader-writer lock of the C library names the holder.
struct LockHolder {
    RecordHeader header;   //     header.tid: the thread that waits
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits
    uint64_t object;       // 16  BlockedSite::object
    uint32_t holder;       // 24  tid
    NodeId holder_path;    // 28  where the holder was: blocked, or by its latest time sample during the wait; 0: not known
    int32_t holder_call;   // 32  the system call that the holder itself was blocked in, -1: none, or not known
    uint32_t padding;      // 36
    uint64_t looks;        // 40
    uint64_t time_ns;      // 48  what they stand for
    uint64_t first_ns;     // 56
    uint64_t last_ns;      // 64
    uint64_t wall_ns;      // 72  1.5: of the run's wall time, what depended on the holder through this wait
};
static_assert(sizeof(LockHolder) == 80);

// The run ends when its first thread ends. At every look the recorder follows from there who waits for whom (join, lock,
// child process; any running thread where the waker is not known) to threads that wait for nobody of the run: the wall time
// since the look before depended on them. Blocked ones have it in their BlockedSite, running ones here.
struct ThreadWall {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t padding;      // 12
    uint64_t looks;        // 16
    uint64_t running_ns;   // 24  of the run's wall time, what depended on this thread while it ran or waited for a CPU
    uint64_t first_ns;     // 32
    uint64_t last_ns;      // 40
};
static_assert(sizeof(ThreadWall) == 48);

} // namespace plumb::trace
