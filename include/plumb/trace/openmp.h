// OpenMP: what the threads of teams did in parallel regions and waited for in them, as the shim saw the calls into the runtime.
//
// All counters are sums in place, a record for each thread and place in the code. Ticks are those of OmpRuntime's clock: it holds
// two moments in ticks and in nanoseconds, by which readers convert.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct OmpRuntime {
    RecordHeader header;
    StringId name;        //  8  of the library
    uint32_t flags;       // 12  OmpRuntimeFlags
    uint64_t first_ns;    // 16
    uint64_t first_ticks; // 24  at the same moment
    uint64_t last_ns;     // 32  0: as yet there is no second moment
    uint64_t last_ticks;  // 40
    uint64_t refused;     // 48  places in the code that found no room
    uint64_t unmatched;   // 56  regions of which not all threads were seen
};
static_assert(sizeof(OmpRuntime) == 64);
enum OmpRuntimeFlags : uint32_t {
    kOmpTicksAreNanoseconds = 1u << 0,
};

enum class OmpSchedule : uint32_t {
    none = 0,     // the runtime hands out no iterations: a static schedule, which the compiler wrote out, or no loop at all
    dynamic = 1,
    guided = 2,
    runtime = 3,  // by OMP_SCHEDULE
    sections = 4,
    fixed = 5,    // static, handed out by the runtime
    automatic = 6,
};

// Parallel regions of one place in the code that one thread started. "Work" of a thread in a region is the time from its
// begin to its end without waits for barriers, criticals and locks.
struct OmpRegion {
    RecordHeader header;        //      header.tid: the thread that started them
    Address call_site;          //   8  return address of the call into the runtime
    Address function;           //  16  what the threads run
    uint32_t schedule;          //  24  OmpSchedule, of the region's loop where the call says it
    uint32_t chunk;             //  28  0: not given
    uint32_t most_threads;      //  32
    uint32_t flags;             //  36  OmpRegionFlags
    uint64_t begun;             //  40
    uint64_t ended;             //  48
    uint64_t wall_ticks;        //  56  from the call to its return, those that ended
    uint64_t longest_ticks;     //  64
    uint64_t threads;           //  72  sum over those that are `compared`
    uint64_t compared;          //  80  of those that ended: all threads were seen, and no task was created
    uint64_t compared_ticks;    //  88  their wall_ticks
    uint64_t longest_spans;     //  96  ticks: of each, the longest of its threads from begin to end
    uint64_t most_work;         // 104  ticks: of each, the most work of a thread
    uint64_t mean_work;         // 112  ticks: of each, the mean over its threads
    uint64_t imbalance;         // 120  ticks: of each, most work less mean work, but no more than the mean wait at its end
    uint64_t clocked;           // 128  of those compared: the threads' CPU clocks were read
    uint64_t clocked_imbalance; // 136  their `imbalance`
    uint64_t cpu_imbalance;     // 144  the part of it that is not for want of a CPU
    uint64_t first_ticks;       // 152
    uint64_t last_ticks;        // 160
    uint32_t lengths[12];       // 168  those that ended by length: below 4, 16, 64, ... us; the last: all longer ones
    NodeId path;                // 216  of the first call, 0: not known
    uint32_t padding;           // 220
};
static_assert(sizeof(OmpRegion) == 224);
enum OmpRegionFlags : uint32_t {
    kOmpNested = 1u << 0, // begun inside another region
    kOmpTasks = 1u << 1,  // tasks were created in one
};

// What one thread did in the regions of one place.
struct OmpPart {
    RecordHeader header;     //      header.tid
    Address call_site;       //   8  OmpRegion::call_site
    Address function;        //  16
    uint32_t number;         //  24  of the thread in its team, the last time
    uint32_t padding;        //  28
    uint64_t parts;          //  32  regions that it took part in to the end
    uint64_t span_ticks;     //  40  from begin to end
    uint64_t wait_ticks;     //  48  of them, waits for barriers, criticals and locks (OmpWait)
    uint64_t end_wait_ticks; //  56  compared regions: from its end to that of the last thread
    uint64_t lasts;          //  64  compared regions of which it ended last
    uint64_t clocked;        //  72  parts of which its CPU clock was read
    uint64_t clocked_ticks;  //  80  their span less waits
    uint64_t cpu_ns;         //  88  their CPU time, waits that spin included
    uint64_t compared_work;  //  96  ticks: work in compared regions
};
static_assert(sizeof(OmpPart) == 104);

enum class OmpWaitKind : uint32_t {
    barrier = 1,   // explicit, or at the end of a single
    loop_end = 2,  // the barrier at the end of a loop or of sections
    critical = 3,
    lock = 4,
    ordered = 5,
    task_wait = 6, // the thread may carry out tasks meanwhile
};

// One thread's waits at one place.
struct OmpWait {
    RecordHeader header;   //      header.tid
    Address call_site;     //   8
    Address region;        //  16  OmpRegion::function of the innermost region, 0: outside of regions
    Address region_site;   //  24  OmpRegion::call_site
    Address object;        //  32  the lock, or the name of the critical; 0: the critical without a name, or none
    uint32_t kind;         //  40  OmpWaitKind
    uint32_t schedule;     //  44  loop_end: OmpSchedule of the loop
    uint64_t calls;        //  48
    uint64_t timed;        //  56  calls that were timed: all that waited for long
    uint64_t wait_ticks;   //  64  of those
    uint64_t longest_wait; //  72  ticks
    uint64_t holds;        //  80  critical, lock: holds that were timed
    uint64_t hold_ticks;   //  88
    NodeId path;           //  96  of the first call, below the path of its region; 0: not known
    uint32_t padding;      // 100
};
static_assert(sizeof(OmpWait) == 104);

} // namespace plumb::trace
