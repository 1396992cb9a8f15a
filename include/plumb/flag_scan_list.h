// The list of code that leaves the processor's flags alone, a file of the run directory: looking through a large library takes
// ten milliseconds and more. Shims append what they found; the recorder puts in before what earlier runs found, and keeps it.
//
// Entries are appended as a whole and never changed. One that was damaged matches nothing.
#pragma once

#include <stdint.h>

namespace plumb::flag_scan {

inline constexpr const char* kFileName = ".flag-scan";
inline constexpr uint32_t kScan = 1; // to be raised when other code is found

struct Entry {
    uint8_t build_id[20];
    uint32_t segment_page; // of an executable segment: its address in the file, in pages of 4096 bytes
};
static_assert(sizeof(Entry) == 24);

inline constexpr uint32_t kEntriesMax = 512; // that a process knows: more than a program and its libraries

} // namespace plumb::flag_scan
