#include "record/align/trap/find_window.h"

#include "platform/code/alignment_flag.h"
#include "platform/os/ids_and_clocks.h"
#include "record/process/process_filter.h"

#include <atomic>
#include <sys/auxv.h>

namespace plumb::shim {

namespace {

constexpr uint32_t kCounted = 20, kLeastCounted = 5;
constexpr uint64_t kCostNs = 150'000; // of hits in a window, where traps are slow: under 1 % of a tick's 20 ms
constexpr uint32_t kExcluded = 6;
constexpr uint32_t kFirstWindows = 8, kFirstExcluded = 64; // short programs have no second one
constexpr uint32_t kMostIdleTicks = 63;    // between windows that see excluded code only: 1.3 s
constexpr uint32_t kMostTicksOfKnown = 15; // between windows that see known sites only: 0.3 s
constexpr uint32_t kWindowsOfKnown = 16;   // so many are not spared: they tell how the accesses of a site lie
constexpr unsigned kProgramsPerEarlyWindow = 64;
constexpr uint64_t kCpuNsPerCostNs = 100;  // of the process, before a new thread has a window at once
// Programs of much code show new sites all the time, so that none of the limits above spares them: all windows together cost
// this, and this share of the process's CPU time.
constexpr uint64_t kHeadStartNs = 2'000'000, kCpuNsPerTickCostNs = 300;

uint64_t trap_cost_ns = 0;
uint32_t counted_limit = kCounted;
std::atomic<uint32_t> windows_begun{0}; // by all threads, up to kFirstWindows
std::atomic<uint64_t> cost_ns{0}; // of the hits in all windows

} // namespace

void set_trap_cost(uint64_t ns) {
    trap_cost_ns = ns;
    if (ns > kCostNs / kCounted) {
        const uint64_t affordable = kCostNs / ns;
        counted_limit = affordable < kLeastCounted ? kLeastCounted : static_cast<uint32_t>(affordable);
    }
}

uint64_t trap_cost() { return trap_cost_ns; }

void begin_window(WatchedThread& thread) {
    thread.armed = thread.ever_armed = alignment_trap_armed = true;
    thread.window_counted = thread.window_excluded = 0;
    thread.window_new = false;
    thread.window_begin_ns = now_ns();
    const bool early = windows_begun.load(std::memory_order_relaxed) < kFirstWindows;
    if (early)
        windows_begun.fetch_add(1, std::memory_order_relaxed);
    thread.window_excluded_limit = early ? kFirstExcluded : kExcluded;
    add_to_count(thread.totals->windows, 1);
}

void end_window(WatchedThread& thread) {
    if (!thread.armed)
        return;
    thread.armed = alignment_trap_armed = false;
    add_to_count(thread.totals->armed_ns, now_ns() - thread.window_begin_ns);
    tell_own_cost(thread);
    // Where only excluded code is unaligned, or what is known already, looking less often misses little.
    uint32_t most_idle_ticks = 0;
    if (thread.window_new) {
        thread.windows_of_known = 0;
    } else if (thread.window_counted > 0) {
        most_idle_ticks = ++thread.windows_of_known > kWindowsOfKnown ? kMostTicksOfKnown : 0;
    } else if (thread.window_excluded > 0) {
        most_idle_ticks = kMostIdleTicks;
    }
    thread.idle_ticks = thread.idle_ticks * 2 + 1;
    if (thread.idle_ticks > most_idle_ticks)
        thread.idle_ticks = most_idle_ticks;
    thread.ticks_to_skip = thread.idle_ticks;
}

bool window_is_over(const WatchedThread& thread) {
    return thread.window_counted >= counted_limit || thread.window_excluded >= thread.window_excluded_limit;
}

void charge_windows() { cost_ns.fetch_add(trap_cost_ns, std::memory_order_relaxed); }

bool may_begin_at_thread_start() {
    const uint64_t cost = cost_ns.load(std::memory_order_relaxed);
    return cost == 0 || cost * kCpuNsPerCostNs <= process_cpu_ns();
}

bool may_begin_at_process_start() {
    if (is_direct_child_of_plumb())
        return true;
    const auto* random = reinterpret_cast<const unsigned char*>(getauxval(AT_RANDOM)); // 16 bytes, anew at every exec
    return !random || random[0] % kProgramsPerEarlyWindow == 0;
}

bool lets_tick_pass(WatchedThread& thread) {
    if (thread.ticks_to_skip > 0) {
        --thread.ticks_to_skip;
        return true;
    }
    const uint64_t cost = cost_ns.load(std::memory_order_relaxed);
    return cost > kHeadStartNs && (cost - kHeadStartNs) * kCpuNsPerTickCostNs > process_cpu_ns();
}

void forget_windows_of_parent() { cost_ns.store(0, std::memory_order_relaxed); }

} // namespace plumb::shim
