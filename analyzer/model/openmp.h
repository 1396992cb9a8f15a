// OpenMP: what the threads of a process did in parallel regions, and what they waited for there. Exact sums, not samples. Times
// in nanoseconds; "work" of a thread in a region is the time from its begin to its end without waits for barriers, criticals
// and locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

enum class OmpSchedule { none, dynamic, guided, runtime, sections, fixed, automatic };

// One thread in the regions of one place.
struct OmpPart {
    uint32_t thread = 0; // index into Process::threads
    uint32_t number = 0; // in its team, the last time
    uint64_t parts = 0;
    uint64_t span_ns = 0;     // from begin to end
    uint64_t wait_ns = 0;     // of it, in waits
    uint64_t end_wait_ns = 0; // from its end to that of the last thread, in regions that were compared
    uint64_t lasts = 0;       // of those, how often it was the last
    uint64_t work_ns = 0;     // of those
    uint64_t clocked = 0, clocked_ns = 0, cpu_ns = 0; // parts whose CPU time is known: their work, and CPU time
};

// The parallel regions of one place in the code.
struct OmpRegion {
    uint64_t call_site = 0, function = 0; // addresses: their key
    uint32_t path = 0;                    // index into Process::paths; 0: not known
    bool nested = false;                  // begun inside another region
    bool has_tasks = false;
    OmpSchedule schedule = OmpSchedule::none;
    uint32_t chunk = 0; // 0: not given
    uint32_t most_threads = 0;
    uint64_t begun = 0, ended = 0;
    uint64_t wall_ns = 0, longest_ns = 0;
    // Of those that ended: all threads were seen and no task was created. Sums over regions.
    uint64_t compared = 0, compared_ns = 0, threads = 0;
    uint64_t longest_spans_ns = 0; // of each, its longest thread from begin to end
    uint64_t most_work_ns = 0, mean_work_ns = 0;
    uint64_t imbalance_ns = 0; // most less mean work, as far as the others waited for it at the end
    uint64_t clocked = 0, clocked_imbalance_ns = 0, cpu_imbalance_ns = 0; // the last: counting CPU time only
    uint64_t lengths[12] = {}; // below 4, 16, 64, ... us
    std::vector<uint32_t> masters;  // threads that started them
    std::vector<OmpPart> parts;     // by thread
};

enum class OmpWaitKind { barrier, loop_end, critical, lock, ordered, task_wait };

struct OmpWaiter {
    uint32_t thread = 0;
    uint64_t calls = 0, timed = 0, wait_ns = 0, longest_ns = 0;
    uint64_t holds = 0, hold_ns = 0;
};

// All waits of one kind at one place and for one object.
struct OmpWait {
    OmpWaitKind kind = OmpWaitKind::barrier;
    uint64_t call_site = 0, object = 0;
    uint32_t path = 0;
    uint32_t region = UINT32_MAX; // index into OpenMp::regions, UINT32_MAX: outside of any
    OmpSchedule schedule = OmpSchedule::none; // of the loop that ends
    std::vector<OmpWaiter> waiters; // by thread
};

struct OpenMp {
    std::string runtime; // the library's name
    std::vector<OmpRegion> regions;
    std::vector<OmpWait> waits;
    uint64_t unmatched = 0; // regions of which not all threads were seen
    uint64_t refused = 0;   // places that found no room
};

} // namespace plumb::model
