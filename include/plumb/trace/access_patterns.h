// Loops that use the memory badly: strides that crowd into few sets of a cache, scattered pages, streams beyond the
// caches; and what the recorder measured on this machine to know their cost.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

// Sampled accesses of one instruction that follow each other at one distance, and whose lines share so few sets of a
// cache that it cannot hold them, although it is large enough. The walk was timed by the recorder on this machine, as
// it was seen and with rows one line longer.
struct AccessStride {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t flags;           // 12  AlignFlags; a load and a store: the loop writes what it reads there
    Address address;          // 16  of the instruction
    uint16_t width;           // 24  bytes
    uint16_t level;           // 26  of the cache
    uint16_t ways;            // 28
    uint16_t line_bytes;      // 30
    uint32_t sets;            // 32
    uint32_t sets_used;       // 36  by the lines of one walk
    uint64_t samples;         // 40  of the instruction
    uint64_t time_ns;         // 48  what they stand for
    uint64_t moved_samples;   // 56  of them, with this stride
    uint64_t moved_time_ns;   // 64
    uint64_t stride;          // 72  bytes, without its sign
    uint64_t walk;            // 80  accesses from the beginning of the innermost loop to its end, the most that were seen
    uint64_t advance;         // 88  bytes, greatest common divisor of the distances between walks; 0: they are the same
    Address lowest_address;   // 96  of those sampled
    Address highest_address;  // 104
    Address last_address;     // 112
    uint64_t padded_stride;   // 120 bytes
    uint64_t seen_ps;         // 128 of one access as timed, 0: not measured
    uint64_t padded_ps;       // 136
    uint64_t first_ns;        // 144 of the first sample: distinguishes the images of a pid that executed another program
    uint64_t last_ns;         // 152 of the sample at last_address
};
static_assert(sizeof(AccessStride) == 160);

// One access of a loop in which some accesses cross lines. The loop was run again after the program had ended, on memory of
// plumb's own: with the addresses that were sampled, and with aligned ones.
struct ReplayedAccess {
    RecordHeader header;
    uint32_t pid;            //  8
    uint32_t flags;          // 12  AlignFlags
    Address address;         // 16  of the instruction
    uint16_t width;          // 24  bytes
    uint16_t steady;         // 26  1: all samples found it equally far from its alignment
    uint32_t loop;           // 28  number of the loop, from 1; its accesses follow one another
    Address loop_begin;      // 32  first instruction
    Address loop_end;        // 40  last one
    uint64_t samples;        // 48  of the loop
    uint64_t time_ns;        // 56  what they stand for
    int64_t round;           // 64  bytes that the access moves in one round of the loop
    uint64_t line_ppm;       // 72  parts in a million of its accesses that cross a line, by its addresses
    uint64_t page_ppm;       // 80  a page
    Address last_address;    // 88
    uint64_t seen_ps;        // 96  of one round of the loop, replayed with the addresses that were sampled
    uint64_t aligned_ps;     // 104 with aligned ones
    uint64_t spread_ps;      // 112 standard error of aligned_ps
    uint64_t round_ps;       // 120 of one round in the program, by the registers that count rounds; 0: not known
    uint64_t rounds_at_once; // 128 of the loop before it ends, 0: not known
    uint64_t footprint_bytes; // 136 of the loop's accesses, all together
    uint64_t first_ns;       // 144 of the first sample: distinguishes the images of a pid that executed another program
    uint64_t last_ns;        // 152
};
static_assert(sizeof(ReplayedAccess) == 160);

enum PackedLoopFlags : uint32_t {
    kPackedMadeAdjacent = 1, // elements that lie apart in the program lie side by side in the packed loop
    kPackedAlready = 2,      // 1.18: the loop computes with vectors, and packed_ps is with those of twice the size
};

// What several elements at once take is of as much work as one round of the loop, with the data where the caches of this machine
// keep so many. Nothing is recorded where that was not measured.
struct PackedLoop {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t flags;           // 12  PackedLoopFlags
    Address loop_begin;       // 16  first instruction
    Address loop_end;         // 24  last one
    uint64_t samples;         // 32  of the loop
    uint64_t time_ns;         // 40  what they stand for
    uint16_t lanes;           // 48  elements at once
    uint16_t vector_bytes;    // 50
    uint32_t chains;          // 52  sums and the like that it carries over
    uint64_t scalar_ps;       // 56  of one round, replayed as it is
    uint64_t packed_ps;       // 64  of as much work, packed
    uint64_t spread_ps;       // 72  standard error of packed_ps
    uint64_t unchained_ps;    // 80  packed, each sum divided into two that wait side by side; 0: it carries none, or not measured
    uint64_t wide_ps;         // 88  packed in vectors of twice the size, which this machine has; 0: it has not, or not measured
    uint64_t round_ps;        // 96  of one round in the program, by the registers that count rounds; 0: not known
    uint64_t footprint_bytes; // 104 of the loop's accesses, all together
    uint64_t first_ns;        // 112 of the first sample: distinguishes the images of a pid that executed another program
    uint64_t last_ns;         // 120
};
static_assert(sizeof(PackedLoop) == 128);

// A loop in which a thread only waits for what other threads store, without leaving its CPU.
struct SpinLoop {
    RecordHeader header;
    uint32_t pid;         //  8
    uint32_t flags;       // 12  SpinLoopFlags
    Address loop_begin;   // 16  first instruction
    Address loop_end;     // 24  first address behind the last one
    Address instruction;  // 32  that looks at the variable, 0: not known, or the loop only counts to some number
    uint32_t width;       // 40  bytes that it looks at
    uint32_t variables;   // 44  different addresses that were seen, at most 255
    Address last_address; // 48  of the variable, 0: not known
    uint64_t samples;     // 56
    uint64_t time_ns;     // 64  what they stand for
    uint64_t first_ns;    // 72  of the first sample: distinguishes the images of a pid that executed another program
    uint64_t last_ns;     // 80
    Address yield_return; // 88  1.8: to where its call that gives the CPU away (sched_yield) returns, 0: it makes none
    uint64_t yield_kernel_milli; // 96 1.8: time in the kernel of such calls, in thousandths of what samples show in them outside of
                                 // it, measured on this machine; 0: samples show the kernel, or it was not measured
};
static_assert(sizeof(SpinLoop) == 104);
enum SpinLoopFlags : uint32_t {
    kSpinPauses = 1u << 0, // the loop contains PAUSE
    kSpinStores = 1u << 1, // it tries to take what it waits for: a locked exchange
};

// chase: each access waits for the one before
enum ScatterForm : uint16_t { kScatterGather = 1, kScatterChase = 2 };

enum PageFlags : uint32_t {
    kPagesEligible = 1u << 0,  // the kernel would give the mapping transparent huge pages
    kPagesAdvised = 1u << 1,   // madvise(MADV_HUGEPAGE)
    kPagesForbidden = 1u << 2, // madvise(MADV_NOHUGEPAGE)
    kPagesRefused = 1u << 3,   // prctl(PR_SET_THP_DISABLE), of the whole process
};

// Sampled accesses of one instruction whose addresses the registers do not foretell, and which fall anywhere into a
// mapping. Such accesses were timed by the recorder on this machine, with pages of both kinds.
struct PageScatter {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t flags;           // 12  AlignFlags
    Address address;          // 16  of the instruction
    uint16_t width;           // 24  bytes
    uint16_t form;            // 26  ScatterForm
    uint32_t area_flags;      // 28  MemoryAreaFlags
    uint32_t page_flags;      // 32  PageFlags, as seen last
    StringId path;            // 36  of the mapping as in MemoryArea
    uint64_t samples;         // 40
    uint64_t time_ns;         // 48  what they stand for
    uint64_t small_ns;        // 56  of that, on small pages
    uint64_t places;          // 64  samples that were looked at closely
    uint64_t pages;           // 72  small pages that these fell into
    Address lowest_address;   // 80  of them
    Address highest_address;  // 88
    Address last_address;     // 96
    uint64_t footprint_bytes; // 104 as if all of so much memory were used evenly
    Address area_start;       // 112
    Address area_end;         // 120 first address behind it
    uint64_t resident_bytes;  // 128 of the mapping, as seen last
    uint64_t huge_bytes;      // 136 of them, by huge pages
    uint64_t timed_bytes;     // 144 memory over which accesses were timed, 0: not timed
    uint64_t small_ps;        // 152 of one access
    uint64_t huge_ps;         // 160 0: there were no huge pages for the trial
    StringId why_not_timed;   // 168
    uint32_t looks;           // 172 how often the mapping was looked at
    uint64_t first_ns;        // 176 of the first sample: distinguishes the images of a pid that executed another program
    uint64_t last_ns;         // 184
    uint64_t watched;         // 192 accesses that were seen one after another, 0: that was not to be had
    uint64_t new_pages;       // 200 of them, those that needed a page which the few before did not
    uint64_t small_touch_ns;  // 208 CPU time to touch 2 MiB for the first time, timed beside the accesses; 0: not known
    uint64_t huge_touch_ns;   // 216 the same where a huge page holds them
};
static_assert(sizeof(PageScatter) == 224);

// Accesses of one loop that walk through one piece of memory side by side are one stream: that of the access in front.
// Only streams whose data are gone from the caches before they are needed again, or are never needed again.
struct MemoryStream {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t loop;            // 12  the same for all streams of one loop; private to the file
    Address loop_begin;       // 16  address of the loop's first instruction
    Address loop_end;         // 24  of its last one
    Address instruction;      // 32  address, of the access in front
    uint32_t flags;           // 40  AlignFlags, of all accesses of the stream together
    uint16_t width;           // 44  bytes
    uint16_t past_caches;     // 46  1: non-temporal stores, which need not read what they overwrite
    int64_t round_bytes;      // 48  from one round of the loop to the next
    uint64_t read_bytes;      // 56  from memory, of one round: lines that are stored to are read first
    uint64_t written_bytes;   // 64  to memory, of one round
    uint64_t footprint_bytes; // 72  of all threads, as samples fell
    Address lowest_address;   // 80
    Address highest_address;  // 88
    Address last_address;     // 96
    uint64_t samples;         // 104 of the loop, in bursts
    uint64_t first_ns;        // 112 of these: distinguishes the images of a pid that executed another program
    uint64_t last_ns;         // 120
    uint32_t after_loop;      // 128 1.9: `loop` of the one that threads came from whenever they began a sweep; 0: not known, or none
    uint32_t reserved;        // 132
};
static_assert(sizeof(MemoryStream) == 136);

// For some milliseconds, threads that stream were sampled so densely that the distance of two samples is what the stream
// came forward. One record for each loop that was met; those of one look have the same begin_ns.
struct TrafficBurst {
    RecordHeader header;
    uint32_t pid;                 //  8
    uint32_t loop;                // 12  MemoryStream::loop
    uint64_t begin_ns;            // 16
    uint64_t end_ns;              // 24
    uint64_t threads_milli;       // 32  thousandths of a thread that were in the loop at once, on average
    uint64_t read_bytes_per_s;    // 40  from memory, all these threads together
    uint64_t written_bytes_per_s; // 48  to memory
};
static_assert(sizeof(TrafficBurst) == 56);

// After the program had ended: threads on CPUs that it used walked through arrays of their own, beyond the caches, with as
// many streams of each kind as its loops have. Bytes are counted as in TrafficBurst.
struct BandwidthRoof {
    RecordHeader header;
    uint32_t threads;          //  8  0: nothing could be measured
    uint16_t loads;            // 12  arrays that are read
    uint16_t stores;           // 14  overwritten, each line of which is read first
    uint16_t updates;          // 16  read and written
    uint16_t past_caches;      // 18  overwritten with non-temporal stores
    StringId cpus;             // 20  of the threads, list format
    uint32_t nodes;            // 24  NUMA nodes of these CPUs
    StringId why_not;          // 28  measured, 0: it was
    uint64_t bytes;            // 32  of all arrays
    uint64_t bytes_per_s;      // 40  median of several repetitions
    uint64_t low_bytes_per_s;  // 48  lower quartile
    uint64_t high_bytes_per_s; // 56  upper quartile
};
static_assert(sizeof(BandwidthRoof) == 64);

} // namespace plumb::trace
