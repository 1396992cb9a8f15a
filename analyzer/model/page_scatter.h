// Accesses of one instruction that fall anywhere into a large piece of memory, and the pages that hold it.
#pragma once

#include "model/alignment.h"
#include "model/memory.h"

#include <cstdint>
#include <string>

namespace plumb::model {

struct PageScatter {
    uint64_t address = 0; // of the instruction
    AccessKind kind;
    bool chases = false; // each access waits for the one before: its address is made of what that one loaded
    MemoryArea area;
    bool eligible = false;  // the kernel would give the area transparent huge pages
    bool advised = false;   // madvise(MADV_HUGEPAGE)
    bool forbidden = false; // madvise(MADV_NOHUGEPAGE)
    bool refused = false;   // prctl(PR_SET_THP_DISABLE)
    uint64_t samples = 0, time_ns = 0;
    uint64_t small_ns = 0; // of the time, on small pages
    uint64_t places = 0, pages = 0; // samples that were looked at closely, and the small pages they fell into
    uint64_t lowest_address = 0, highest_address = 0, last_address = 0;
    uint64_t footprint_bytes = 0; // as if all of so much memory were used evenly
    uint64_t resident_bytes = 0, huge_bytes = 0; // of the area
    uint64_t timed_bytes = 0; // memory over which such accesses were timed on this machine; 0: they were not
    double small_page_ns = 0, huge_page_ns = 0; // of one access; huge_page_ns 0: no huge pages were available
    double small_touch_ns = 0, huge_touch_ns = 0; // CPU time to touch 2 MiB for the first time; 0: not known
    std::string why_not_timed; // in words, when either is missing
    uint64_t first_ns = 0, last_ns = 0;
    uint64_t watched = 0, new_pages = 0; // accesses seen one after another, and those that needed another page; 0: none were
};

// The kernel's settings for huge pages, in its own words; empty: not known.
struct HugePages {
    std::string enabled, defrag; // of anonymous memory
    std::string shared_enabled;  // of shared memory
    uint64_t page_bytes = 0;     // of a huge page
    uint64_t scan_pages = 0, scan_sleep_ms = 0; // khugepaged: pages of the base size it looks at before it sleeps
};

} // namespace plumb::model
