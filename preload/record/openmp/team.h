// One parallel region under way, as the thread that started it sees it: where each thread of the team leaves what it did.
//
// Lies in pages of the thread that starts the region, one for each depth of nesting, and stays there: whoever still writes into
// one of a region that is long over (a fiber, a forked child) writes into memory that is there for it.
#pragma once

#include <plumb/trace_format.h>

#include <atomic>
#include <stdint.h>

namespace plumb::shim::openmp {

// What one thread did in one region. Written by that thread before it reaches the barrier that ends the region, read by the one
// that started it behind that barrier. Threads do not share lines.
struct alignas(64) Slot {
    uint64_t serial; // Team::serial of the region that it is about
    uint64_t begin_ticks, end_ticks;
    uint64_t wait_ticks; // between them
    uint64_t cpu_ns;     // between them, if Team::clocked
    trace::OmpPart* part;
};

struct Team {
    Slot* slots;
    uint32_t capacity; // of slots
    uint32_t threads;  // as thread 0 saw it
    uint64_t serial;   // runs on with each region of this thread
    uint64_t call_site, function; // the key of the region's records
    trace::NodeId path;
    uint64_t begin_ticks;         // for whoever has no place of its own for it
    bool clocked;                 // its threads read their CPU clocks
    std::atomic<uint32_t> tasks;  // 1: a task was created in it
    std::atomic<uint32_t> schedules; // of loops in it: a bit for each trace::OmpSchedule
    std::atomic<uint32_t> chunk;     // of one of them
};

} // namespace plumb::shim::openmp
