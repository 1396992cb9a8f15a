// The heap: totals by thread, allocations by call path, and single large blocks.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

struct HeapTotals {
    RecordHeader header;       //     header.tid: the thread
    uint64_t allocations;      //  8  malloc and similar calls, realloc of NULL included; those that succeeded
    uint64_t allocated_bytes;  // 16  as requested, by reallocations too
    uint64_t frees;            // 24  free of non-NULL, realloc to 0 included
    uint64_t reallocations;    // 32  realloc of a live block to another size: both a free and an allocation of a site
    uint64_t zero_sized;       // 40
    uint64_t failed;           // 48  returned NULL
    uint64_t max_request_bytes; // 56
    uint64_t size_histogram[32]; // 64  [i]: requests of 2^i <= bytes < 2^(i+1), [0] also 0; full mode only
};
static_assert(sizeof(HeapTotals) == 320);

enum class HeapSiteMode : uint32_t { sampled = 0, every_event = 1 };

// Sample mode: estimates (each sampled allocation stands for weight = its inverse probability). Full mode: exact.
// A path has one record for each thread that allocated there or freed what was allocated there; they are to be
// added, modulo 2^64 (a thread that only frees has frees without allocations, and a negative peak_live_bytes).
// Peak: `peak_epoch` numbers the moments at which the whole heap reached a new maximum (1 % above the former one).
// Let E be the largest peak_epoch of all sites of the process. A site with peak_epoch E had peak_live_bytes at that
// moment; a site with an older one has not changed since, so that it had allocated_bytes - freed_bytes.
struct HeapSite {
    RecordHeader header;        //     header.tid: the thread
    NodeId path;                //  8
    uint32_t mode;              // 12  HeapSiteMode
    uint64_t allocations;       // 16
    uint64_t allocated_bytes;   // 24
    uint64_t frees;             // 32  of blocks this path allocated, whoever freed them
    uint64_t freed_bytes;       // 40
    uint64_t temporary;         // 48  freed by the same thread before its next allocation; full mode only
    uint64_t peak_live_bytes;   // 56  live bytes when the whole heap was largest (within 1 %), see above
    uint64_t samples;           // 64  allocations actually seen
    uint64_t lock_wait_ns;      // 72  time blocked inside the allocator in the calls that were timed: a lower bound
    uint64_t first_ns;          // 80
    uint64_t last_ns;           // 88  full mode: to within 64 events of the thread
    uint64_t peak_epoch;        // 96  see above
};
static_assert(sizeof(HeapSite) == 104);

enum class LargeMapKind : uint32_t {
    mmap = 1,
    mremap = 2,
    program_break = 3, // it grew: brk, sbrk
    allocator = 4,     // malloc and similar calls, above the large limit
};

// The places of blocks that ended may be used again for later ones. Until 1.2 the end has a record of its own.
struct LargeMap {
    RecordHeader header;
    uint64_t time_ns; //  8
    Address address;  // 16
    uint64_t bytes;   // 24  0: being written
    NodeId path;      // 32
    uint32_t kind;    // 36  LargeMapKind
    uint64_t until_ns; // 40  0: it was not seen to end
};
static_assert(sizeof(LargeMap) == 48);

struct LargeUnmap {
    RecordHeader header;
    uint64_t time_ns; //  8
    Address address;  // 16
    uint64_t bytes;   // 24
};
static_assert(sizeof(LargeUnmap) == 32);

} // namespace plumb::trace
