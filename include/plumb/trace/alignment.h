// Unaligned accesses: what the trap caught in the program, what time samples found, and what such an access costs.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

enum AlignFlags : uint32_t {
    kAlignLoad = 1u << 0,
    kAlignStore = 1u << 1,
    kAlignLocked = 1u << 2,  // LOCK prefix, or xchg with memory
    kAlignString = 1u << 3,  // rep movs and similar: one hit is one execution, however many elements
    kAlignStack = 1u << 4,   // push, pop, call, ret: the stack pointer itself was unaligned
    kAlignPacked = 1u << 5,  // a vector access; these do not trap, they are found by address sampling
};

// Every instruction that was caught, once; header.tid is the thread it was first caught in.
struct AlignSite {
    RecordHeader header;
    uint32_t id;               //  8  from 1
    uint32_t flags;            // 12  AlignFlags
    Address address;           // 16  of the instruction
    uint64_t time_ns;          // 24  first hit
    uint16_t width;            // 32  bytes of one access
    uint16_t instruction_bytes; // 34
    NodeId path;               // 36  who called the function, at the first hit; 0: not known
    uint8_t code[16];          // 40  the instruction itself, zeros behind it
};
static_assert(sizeof(AlignSite) == 56);

// Counts of one instruction in one thread; a thread that has several records for a site adds them. An access of
// `width` bytes at `address` crosses a 64-byte line when address % 64 + width > 64: `residues` says how many did.
struct AlignCount {
    RecordHeader header;      //     header.tid: the thread
    uint32_t site;            //  8  AlignSite::id
    uint32_t exact;           // 12  1: every hit was counted; 0: a lower bound
    uint64_t hits;            // 16  the sum of `residues`, unless the address was not known
    uint64_t page_crossings;  // 24  4096-byte pages
    Address lowest_address;   // 32
    Address highest_address;  // 40
    uint64_t last_ns;         // 48  of the last hit that went through the trap
    uint64_t residues[64];    // 56  [address % 64]
};
static_assert(sizeof(AlignCount) == 568);

enum class BlockKind : uint32_t { unknown = 0, heap = 1, stack = 2, mapping = 3 };

struct AlignAddress {
    RecordHeader header;   //     header.tid: the thread
    uint32_t site;         //  8  AlignSite::id
    uint32_t block_kind;   // 12  BlockKind; statics are `unknown` here: the modules know them
    Address address;       // 16
    uint64_t time_ns;      // 24
    Address block_start;   // 32  of the heap block or mapping it lies in, 0: not known
    uint64_t block_bytes;  // 40  as requested
    NodeId block_path;     // 48  who allocated it, 0: not known
    uint32_t padding;      // 52
    Address base_value;    // 56  of the base register of the operand
    Address stack_pointer;  // 64
    Address frame_address;  // 72  canonical frame address of the function, 0: not known
};
static_assert(sizeof(AlignAddress) == 80);

enum class AlignMode : uint32_t { find = 1, exact = 2 };

struct AlignTotals {
    RecordHeader header;     //     header.tid: the thread
    uint32_t mode;           //  8  AlignMode
    uint32_t padding;        // 12
    uint64_t hits;           // 16  counted, of all sites
    uint64_t excluded_hits;  // 24  in excluded code, or of packed accesses: stepped over, not counted
    uint64_t windows;        // 32  find mode: how often the thread was armed
    uint64_t armed_ns;       // 40  find mode: for how long, an upper bound
    uint64_t stepped;        // 48  hits that took a single step
    uint64_t slots;          // 56  hits that took a slot
    uint64_t rewritten;      // 64  hits that took no signal at all
    uint64_t trap_ns;        // 72  estimated time the thread spent in traps
    uint64_t lost_hits;      // 80  seen, but no room to count them
};
static_assert(sizeof(AlignTotals) == 88);

// Time samples in [start, end) belong to the instruction at `address`.
struct AlignCode {
    RecordHeader header;
    Address start;    //  8
    Address end;      // 16
    Address address;  // 24
};
static_assert(sizeof(AlignCode) == 32);

// Accesses whose address was recovered from the registers of a time sample. One record for each instruction and
// process; weighted by time, not by number of executions.
struct AccessSite {
    RecordHeader header;
    uint32_t pid;            //  8
    uint32_t flags;          // 12  AlignFlags
    Address address;         // 16  of the instruction
    uint16_t width;          // 24  bytes
    uint16_t padding[3];     // 26
    uint64_t samples;        // 32
    uint64_t time_ns;        // 40  what they stand for
    uint64_t unaligned;      // 48  of the samples: address % width != 0
    uint64_t line_crossings; // 56
    uint64_t page_crossings; // 64
    Address last_address;    // 72  of the last sample that was unaligned, else of the last one
    uint64_t first_ns;       // 80  of the first sample: distinguishes the images of a pid that executed another program
};
static_assert(sizeof(AccessSite) == 88);

// Picoseconds of one access in a loop of independent ones, timed by the recorder on this machine. 0: not measured.
struct AccessPenalty {
    RecordHeader header;
    uint64_t loads;         //  8  how many were timed for each figure
    uint64_t aligned_load_ps; // 16
    uint64_t unaligned_load_ps; // 24  within a line
    uint64_t line_load_ps;    // 32  crossing a line
    uint64_t page_load_ps;    // 40  crossing a page
    uint64_t aligned_store_ps; // 48
    uint64_t unaligned_store_ps; // 56
    uint64_t line_store_ps;   // 64
    uint64_t page_store_ps;   // 72
    uint64_t locked_ps;       // 80  an aligned locked operation
    uint64_t split_lock_ps;   // 88  one that crosses a line
    StringId split_lock_setting; // 96  what the kernel does about split locks, in its own words; 0: not known
    // At least 1 where they were measured, in sweeps of 8-byte accesses that are 4 bytes off.
    uint16_t sweep_line_load_ps;  // 100  what a line crossing adds where one access of 8 crosses; since 1.2
    uint16_t sweep_line_store_ps; // 102  the same of stores; since 1.2
};
static_assert(sizeof(AccessPenalty) == 104);

} // namespace plumb::trace
