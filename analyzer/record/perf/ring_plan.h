// How a recorder samples so that all recorders of a node fit into the memory that the kernel lets one user lock: a ring
// for each CPU or one for each thread, and how large. Plain arithmetic, no errors.
//
// The kernel's rule (perf_event_mlock_kb in Documentation/admin-guide/sysctl/kernel.rst; perf_mmap()): a user's rings may
// take perf_event_mlock_kb for each CPU that is online, together; what a process maps beyond that counts against its
// own RLIMIT_MEMLOCK. A ring takes its data pages and one more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct LockedMemory {
    uint64_t of_user_bytes = 0;    // shared by all recorders of the user on this node
    uint64_t of_process_bytes = 0; // each recorder's own, besides

    // Of this process. `root`: "" except in tests. What cannot be read counts as the kernel's own default.
    static LockedMemory now(const std::string& root, size_t online_cpus);
};

// Data pages for each of `rings` rings of each of `recorders` recorders: a power of two, from 1 to `wanted`. A quarter of
// the room is left to the rings that are opened later, while the program runs.
size_t ring_pages(size_t wanted, size_t rings, size_t recorders, const LockedMemory& room, size_t page_bytes);

struct RingNeeds {
    std::vector<int> online;  // CPUs; empty: not known
    std::vector<int> allowed; // those that the target may use when it begins
    size_t recorders = 1;     // of this job on this node; of others nothing is known
    size_t wanted_pages = 1;  // data pages of a ring
};

struct RingPlan {
    bool per_thread = false; // else one for each of `cpus`
    std::vector<int> cpus;
    size_t pages = 1; // data pages
    // Recorders that were not started together know nothing of one another. One that lives on the user's common memory
    // leaves half of it to those who come later: where so much is not to be had any more, it takes the least. 0: it lives
    // on its own memory, or on its known share.
    uint64_t left_bytes = 0;
};

// A ring for each CPU sees every thread and process from its first moment; one for each thread takes less where there are
// many CPUs, and misses what a thread does before the recorder knows it.
//  - Ranks that their launcher bound to CPUs are sampled there; all others wherever they may run, unless there are so many
//    CPUs that an event on each would make thread creation slow.
//  - Rings of threads, where those of CPUs would be very small, or the ranks of a node would open too many events.
RingPlan plan_rings(const RingNeeds& needs, const LockedMemory& room, size_t page_bytes);

// Of a plan whose left_bytes are not to be had: others have taken so much already.
void take_least(RingPlan& plan);

} // namespace plumb::record
