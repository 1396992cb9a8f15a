// One parallel region under way, as the thread that started it sees it: where each thread of the team leaves what it did.
//
// Lies in pages of the thread that starts the region, one for each depth of nesting, and stays there: whoever still writes into
// one of a region that is long over (a fiber, a forked child) writes into memory that is there for it.
#pragma once

#include <plumb/trace_format.h>

#include <atomic>
#include <stdint.h>

namespace plumb::shim::openmp {

// A line of memory that goes from one core to another and back costs a tenth of a microsecond, as much as all else that is done in
// a region. So each line here is written by one thread alone.

// What comparing regions has shown about one thread; the one that starts them adds it to the record from time to time.
struct alignas(64) Judgement {
    trace::OmpPart* part; // that it is about
    uint64_t end_wait_ticks, compared_work, lasts; // as in that record, where they are missing yet
};

// What one thread did in one region. Written by that thread before it reaches the barrier that ends the region, read by the one
// that started it behind that barrier.
struct alignas(64) Slot {
    uint64_t serial; // Invitation::serial of the region that it is about
    uint64_t begin_ticks, end_ticks;
    uint64_t wait_ticks; // between them
    uint64_t cpu_ns;     // between them, if Invitation::clocked
    trace::OmpPart* part;
    Judgement judgement; // written by the one that starts the regions
};

struct Team;

// What a thread must know of a region to take part in it, in one piece, so that it needs no line of the team's.
struct Invitation {
    Team* team; // null: the region is not recorded
    Slot* slots;
    uint64_t serial;   // of the region: runs on with each of the thread that starts it
    uint64_t part_key; // of its threads' records
    uint32_t capacity; // of slots
    bool clocked;      // the threads read their CPU clocks
};

struct Team {
    Invitation invitation;
    uint64_t open_frame; // of the function that starts the region; 0: it has ended
    uint32_t depth;      // of the thread that starts it, in regions that it takes part in
    uint32_t threads;    // as thread 0 saw it, in the last region that had one
    uint64_t call_site, function; // the key of the region's records
    trace::NodeId path;
    uint64_t begin_ticks;         // for whoever has no place of its own for it
    std::atomic<uint32_t> tasks;  // 1: a task was created in it
    std::atomic<uint32_t> schedules; // of loops in it: a bit for each trace::OmpSchedule
    std::atomic<uint32_t> chunk;     // of one of them
};

} // namespace plumb::shim::openmp
