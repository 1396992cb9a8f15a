// What the allocator cost: time samples inside it, and the lines of the user's code that called it.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace plumb {

// Samples of one thread.
struct HeapThreadTime {
    uint64_t samples = 0;      // all, without those in the shim
    uint64_t shim_samples = 0;
    uint64_t lock_hits = 0;    // waiting for, or waking up others for, one of the C library's private locks
    uint64_t user_hits = 0;    // else in the allocator, in user mode
    uint64_t other_hits = 0;   // else in the allocator
    uint64_t yield_hits = 0;   // giving its CPU away
};

struct HeapProfile {
    uint64_t samples = 0;       // of the whole run, without those in the shim: they are the tool's cost
    uint64_t shim_samples = 0;
    uint64_t hits = 0;          // with the allocator anywhere on the call path
    uint64_t kernel_hits = 0;   // of these: in the kernel on its behalf
    uint64_t lock_hits = 0;     // waiting for, or waking up others for, one of the C library's private locks
    std::set<std::pair<size_t, uint32_t>> threads;      // (process, thread) with a hit
    std::set<std::pair<size_t, uint32_t>> lock_threads; // (process, thread) with a lock hit
    std::map<std::pair<size_t, uint32_t>, HeapThreadTime> time_by_thread; // by process and thread
    std::map<size_t, double> seconds_by_process;        // of hits
    std::map<std::string, uint64_t> hits_by_module;     // the allocator's file
    LineShares sampled_lines;                           // the user's lines on the sampled call paths
    LineShares lock_lines;
    double share() const { return samples ? static_cast<double>(hits) / static_cast<double>(samples) : 0; }
    // The program's own part of all CPU time, the rest being the shim's.
    double program_part() const {
        return samples ? static_cast<double>(samples) / static_cast<double>(samples + shim_samples) : 1;
    }
    // Seconds of a run that takes `wall_s` with the shim, as a part of the same run without it.
    double fraction_of_bare_run(double seconds, double wall_s, double wall_of_all_cpu_s) const {
        const double bare_s = wall_s - (1 - program_part()) * wall_of_all_cpu_s;
        return bare_s > 0 ? std::min(1.0, seconds / bare_s) : 0;
    }
    double lock_share() const { return samples ? static_cast<double>(lock_hits) / static_cast<double>(samples) : 0; }
};

HeapProfile heap_profile_of(model::CallPaths& paths);

// The allocating lines by estimated time: each process's time in the allocator, divided by the number of
// allocations that the heap sampler saw at each call path. Empty when the heap was not recorded where the time went,
// or too few allocations were sampled.
LineShares allocation_lines(model::CallPaths& paths, const HeapProfile& profile);

// Of that time, what using memory again would save, by the line that decides to allocate: a pool allocates what lives at one
// time, and nothing more. Blocks that live on cannot be spared so. Shares are of all time in the allocator, the rest being
// unplaced; empty where allocation_lines() is.
LineShares sparable_lines(model::CallPaths& paths, const HeapProfile& profile);

// Allocations of the whole run, exact where the shim was inside.
struct HeapCounts {
    bool recorded = false;
    uint64_t allocations = 0, frees = 0, reallocations = 0, allocated_bytes = 0;
};
HeapCounts heap_counts_of(const model::Run& run);

} // namespace plumb
