// What scattered accesses cost on this machine with small pages, and with huge ones: a calibration of up to a second.
#pragma once

#include <cstdint>
#include <string>

namespace plumb::record {

// Accesses to random places of `span` bytes.
struct ScatteredAccesses {
    uint64_t span = 0;
    bool chases = false; // each waits for the one before: its address is made of what that one loaded
    bool loads = true, stores = false;
};

struct PageTime {
    uint64_t span = 0;                // bytes that were timed, at most those asked for; 0: nothing was
    uint64_t small_ps = 0, huge_ps = 0; // of one access; huge_ps 0: no huge pages were available
    // CPU time to touch 2 MiB for the first time: page faults, and zeroing them. 0: not known.
    uint64_t small_touch_ns = 0, huge_touch_ns = 0;
    std::string why_not;              // in words, when either is missing
};

// CPU time of this process, both kinds of pages in turn. Takes at most `most_bytes` of memory, half of it for each kind.
PageTime time_pages(const ScatteredAccesses& accesses, uint64_t most_bytes);

} // namespace plumb::record
