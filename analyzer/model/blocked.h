// Where threads were off their CPUs, as looks from outside saw them: sampled, so that their sums are estimates; the exact
// time off CPU of a thread is its life without run_ns and run_delay_ns.
#pragma once

#include <cstdint>
#include <string>

namespace plumb::model {

// One thread, waiting in one call at one place.
struct BlockedSite {
    uint32_t thread = 0;  // index into Process::threads
    uint32_t path = 0;    // index into Process::paths; 0: not known
    int system_call = -1; // as the machine numbers them; -1: none, a page fault
    std::string descriptor; // "/a/file", "pipe:[4711]", "socket:[12]", "anon_inode:[eventfd]"; empty: none
    uint64_t object = 0;  // address of the futex
    uint64_t looks = 0, time_ns = 0;
    uint64_t waits = 0; // different ones among the looks, a lower bound
    uint64_t bytes = 0; // requested in them
    uint64_t first_ns = 0, last_ns = 0;
    // Of the run's wall time, what depended on this wait, and of that, while no other thread of the run ran or waited for a
    // device. Zero in recordings of before format 1.5.
    uint64_t wall_ns = 0, alone_ns = 0;
};

// What the holder of a lock did while a thread waited for it.
struct LockHolder {
    uint32_t thread = 0, path = 0; // who waits, and where
    uint64_t object = 0;
    uint32_t holder = 0;           // index into Process::threads
    uint32_t holder_path = 0;      // 0: not known
    int holder_call = -1;          // the system call that it was blocked in; -1: none, or not known
    uint64_t looks = 0, time_ns = 0;
    uint64_t wall_ns = 0; // of the run's wall time, what depended on the holder through this wait
};

} // namespace plumb::model
