// The kernel settings of huge pages, and how much of it each mapping of a process has.
#pragma once

#include "platform/maps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

// The files of admin-guide/mm/transhuge; empty or 0: the kernel does not say (it is built without them).
struct HugePageSettings {
    std::string enabled;        // "always", "madvise", "never"
    std::string defrag;         // whether a fault waits for a huge page to be made free
    std::string shared_enabled; // the same as `enabled`, of shared memory and tmpfs
    uint64_t page_bytes = 0;    // of a huge page
    uint64_t scan_pages = 0;    // what khugepaged looks at before it sleeps, in pages of the base size
    uint64_t scan_sleep_ms = 0;
};

// `root`: "" for this machine, else a folder with a copy of its /sys.
HugePageSettings read_huge_page_settings(const std::string& root);

// One mapping in /proc/PID/smaps.
struct PageBacking {
    Mapping mapping;
    uint64_t resident_bytes = 0;   // pages of hugetlbfs included
    uint64_t huge_bytes = 0;       // of them, by huge pages of either kind
    bool eligible = false;         // the kernel would give it transparent huge pages
    bool advised = false;          // madvise(MADV_HUGEPAGE)
    bool forbidden = false;        // madvise(MADV_NOHUGEPAGE)
};

std::vector<PageBacking> parse_smaps(std::string_view text);

// In ascending order. Empty if the process is gone or may not be looked at. The kernel walks all its page tables: about
// 15 ns for each small page that is resident.
std::vector<PageBacking> read_page_backing(const std::string& proc_root, uint32_t pid);

// The same of all mappings together (/proc/PID/smaps_rollup): the kernel walks the page tables likewise, but lets others in between.
std::optional<PageBacking> read_whole_backing(const std::string& proc_root, uint32_t pid);

// prctl(PR_SET_THP_DISABLE), which children inherit.
bool refuses_huge_pages(const std::string& proc_root, uint32_t pid);

// Of its memory, as /proc/PID/statm counts it; 0: it is gone.
uint64_t resident_bytes(const std::string& proc_root, uint32_t pid);

} // namespace plumb::platform
