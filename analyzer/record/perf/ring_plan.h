// How large the sampling rings of one recorder may be, so that those of all recorders of a node fit into the memory that
// the kernel lets one user lock. Plain arithmetic, no errors.
//
// The kernel's rule (perf_event_mlock_kb in Documentation/admin-guide/sysctl/kernel.rst; perf_mmap()): a user's rings may
// take perf_event_mlock_kb for each CPU that is online, together; what a process maps beyond that counts against its
// own RLIMIT_MEMLOCK. A ring takes its data pages and one more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

} // namespace plumb::record
