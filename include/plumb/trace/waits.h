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
    // A sleep (nanosleep, clock_nanosleep):
    uint64_t at_set_time;     //  96  1.7: of `waits`, until an absolute time
    uint64_t shortest_ask_ns; // 104  1.7: of the others, the shortest time asked for, 0: not known
    uint64_t longest_ask_ns;  // 112  1.7: and the longest
    uint64_t quiet_ns;        // 120  1.7: of wall_ns, while the other threads of the run did no more than sleep or wait for one another
    uint64_t overdue_ns;      // 128  1.7: of quiet_ns, after another thread had worked since the sleep began
};
static_assert(sizeof(BlockedSite) == 136);

// The owner word of a mutex or reader-writer lock of the C library names the holder.
struct LockHolder {
    RecordHeader header;   //     header.tid: the thread that waits
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits
    uint64_t object;       // 16  BlockedSite::object
    uint32_t holder;       // 24  tid
    NodeId holder_path;    // 28  where the holder was: blocked, or by a time sample while nobody was given the lock; 0: not known
    int32_t holder_call;   // 32  the system call that the holder itself was blocked in, -1: none, or not known
    uint32_t flags;        // 36  LockHolderFlags
    uint64_t looks;        // 40
    uint64_t time_ns;      // 48  what they stand for
    uint64_t first_ns;     // 56
    uint64_t last_ns;      // 64
    uint64_t wall_ns;      // 72  1.5: of the run's wall time, what depended on the holder through this wait
};
static_assert(sizeof(LockHolder) == 80);
enum LockHolderFlags : uint32_t {
    kHolderLacksCpu = 1u << 0, // the holder could have run, but had no CPU
};

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
    uint64_t no_cpu_ns;    // 48  1.6: of running_ns, while it waited for a CPU
};
static_assert(sizeof(ThreadWall) == 56);

// Which thread, of this process or of another one of the run, goes on while a thread waits for it: the other end of a pipe or
// socket, a child process, a thread that is joined, or one of those that ran while it waited for what they bring.
enum WaitRelation : uint32_t {
    kWaitsForPeer = 1,  // it has the other end of the pipe or socket open
    kWaitsForChild = 2, // wait4 and similar calls, vfork
    kWaitsForEnd = 3,   // pthread_join
    kWaitsForWork = 4,  // a condition, a barrier, a semaphore: it ran meanwhile; who wakes the waiter is not known
};

struct WaitedFor {
    RecordHeader header;   //     header.tid: the thread that waits
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits
    int32_t system_call;   // 16  BlockedSite::system_call
    StringId descriptor;   // 20  BlockedSite::descriptor
    uint64_t object;       // 24  BlockedSite::object
    uint32_t peer_pid;     // 32
    uint32_t peer_tid;     // 36
    NodeId peer_path;      // 40  where that thread was: blocked, or by a time sample during the wait; 0: not known
    int32_t peer_call;     // 44  the system call that it was blocked in; -1: none, or not known
    uint32_t relation;     // 48  WaitRelation
    uint32_t padding;      // 52
    uint64_t looks;        // 56
    uint64_t time_ns;      // 64  what they stand for, divided among those that a wait is for
    uint64_t wall_ns;      // 72  of the run's wall time, what depended on that thread through this wait
    uint64_t first_ns;     // 80
    uint64_t last_ns;      // 88
};
static_assert(sizeof(WaitedFor) == 96);

// Page faults in user mode that had to read from a disk (major faults), all of them: each is an event of the kernel. The wait
// itself is in the BlockedSite of the same thread whose path ends at the same instruction.
struct PageRead {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    StringId file;         // 12  that is mapped there, 0: none, or not known
    uint64_t address;      // 16  of the instruction
    uint32_t flags;        // 24  PageReadFlags
    uint32_t padding;      // 28
    uint64_t faults;       // 32
    uint64_t ahead;        // 40  of them, a little above the thread's fault before, in the same mapping
    uint64_t mapped_bytes; // 48  of the largest such mapping
    uint64_t first_ns;     // 56
    uint64_t last_ns;      // 64
};
static_assert(sizeof(PageRead) == 72);
enum PageReadFlags : uint32_t {
    kPageOfCode = 1u << 0,    // of a program or library that the process executes
    kPageOfSwap = 1u << 1,    // anonymous memory: it was swapped out
    kPageOfUnknown = 1u << 2, // what is mapped there was not found out in time
};

// Each time a thread left its CPU and came back, from the kernel's own records: exact but for `broken`. Blocked: it left by
// itself; preempted: it could have gone on. Histograms by the length of an interval: below 10 us, 100 us, 1 ms, 10 ms, 100 ms,
// 1 s, 10 s, and longer.
struct ThreadSwitches {
    RecordHeader header;           //      header.tid: the thread
    uint32_t pid;                  //   8
    uint32_t flags;                //  12  ThreadSwitchesFlags
    uint64_t first_ns;             //  16  from here
    uint64_t last_ns;              //  24  to here its intervals are known
    uint64_t on_ns;                //  32  on a CPU between them
    uint64_t blocked_count;        //  40
    uint64_t blocked_ns;           //  48
    uint64_t preempted_count;      //  56
    uint64_t preempted_ns;         //  64
    uint64_t broken_count;         //  72  intervals of which a record was lost
    uint64_t broken_ns;            //  80  their length: on a CPU or off it, which is not known
    uint64_t blocked_counts[8];    //  88
    uint64_t blocked_times_ns[8];  // 152
    uint64_t preempted_counts[8];  // 216
};
static_assert(sizeof(ThreadSwitches) == 280);
enum ThreadSwitchesFlags : uint32_t {
    kSwitchesStopped = 1u << 0, // recording them was over budget: what follows last_ns is not known
};

// Once a thread of the run lost its CPU though it could have gone on. Of a process with very many of them the short ones are
// missing from some moment on; ThreadSwitches counts all.
struct Preemption {
    RecordHeader header; //     header.tid: the thread
    uint32_t pid;        //  8
    int32_t cpu;         // 12  that it lost
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24  it is on a CPU again
    uint32_t taker;      // 32  tid of the thread of the run that had this CPU for most of the time; 0: none of the run
    uint32_t flags;      // 36  PreemptionFlags
};
static_assert(sizeof(Preemption) == 40);
enum PreemptionFlags : uint32_t {
    kPreemptedByRecorder = 1u << 0, // the recorder itself ran on this CPU for most of the time
};

// How many threads of one process were active at the same time, from the kernel's records of switches. Active: on a CPU, or
// preempted. One that was woken and has no CPU yet is not counted: no record says so.
struct ThreadsActive {
    RecordHeader header;
    uint32_t pid;           //  8
    uint32_t padding;       // 12
    uint64_t first_ns;      // 16
    uint64_t last_ns;       // 24
    uint64_t active_ns[16]; // 32  wall time between them, by the number of active threads: none, 1, ... 15 and more
};
static_assert(sizeof(ThreadsActive) == 160);

// Goroutines that wait leave their threads to others, so that the kernel sees nothing of them: their descriptions in the
// memory of the process are read at random moments.
struct GoroutineWait {
    RecordHeader header;
    uint32_t pid;       //  8
    NodeId path;        // 12  where they wait, 0: not known
    StringId reason;    // 16  in the words of Go's runtime: "sync.Mutex.Lock", "chan send"
    uint32_t padding;   // 20
    uint64_t looks;     // 24  at which one was seen here; one that waits for long is seen at many
    uint64_t time_ns;   // 32  they waited, all of them together
    uint64_t saved_ns;  // 40  of wall time, at most, if they had gone on wherever one of Go's processors was idle
    uint64_t first_ns;  // 48
    uint64_t last_ns;   // 56
};
static_assert(sizeof(GoroutineWait) == 64);

struct GoroutineLooks {
    RecordHeader header;
    uint32_t pid;          //  8
    uint32_t processors;   // 12  that Go may use at the same time: GOMAXPROCS, and no more CPUs than the process is allowed
    uint64_t looks;        // 16
    uint64_t time_ns;      // 24  for which they stand
    uint64_t runnable_ns;  // 32  goroutines that ran, or could have run, all of them together
    uint64_t most;         // 40  descriptions of goroutines at any one look; those that ended keep theirs
    uint64_t first_ns;     // 48
    uint64_t last_ns;      // 56
};
static_assert(sizeof(GoroutineLooks) == 64);

} // namespace plumb::trace
