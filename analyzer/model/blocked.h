// Where threads were off their CPUs, as looks from outside saw them: sampled, so that their sums are estimates; the exact
// time off CPU of a thread is in its ThreadSwitches, or else its life without run_ns and run_delay_ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

// One thread, waiting in one call at one place.
struct BlockedSite {
    uint32_t thread = 0;  // index into Process::threads
    uint32_t path = 0;    // index into Process::paths; 0: not known
    int system_call = -1; // as the machine numbers them; -1: none, a page fault
    std::string descriptor; // "/a/file", "pipe:[4711]", "pipe:/a/fifo", "socket:[12]", "anon_inode:[eventfd]"; empty: none
    uint64_t object = 0;  // address of the futex
    uint64_t looks = 0, time_ns = 0;
    uint64_t waits = 0; // different ones among the looks, a lower bound
    uint64_t bytes = 0; // requested in them
    uint64_t first_ns = 0, last_ns = 0;
    // Of the run's wall time, what depended on this wait, and of that, while no other thread of the run ran or waited for a
    // device. Zero in recordings of before format 1.5.
    uint64_t wall_ns = 0, alone_ns = 0;
    // Of a sleep (zero in recordings of before format 1.7): of `waits`, those until an absolute time; what the others asked for;
    // of wall_ns, while the other threads did no more than sleep or wait for one another; of that, after another thread had
    // worked since the sleep began.
    uint64_t at_set_time = 0, shortest_ask_ns = 0, longest_ask_ns = 0;
    uint64_t quiet_ns = 0, overdue_ns = 0;
};

// Page faults of one thread at one instruction that read from one file, or from swap: all of them, not sampled.
struct PageRead {
    enum class Source : uint8_t { file, code, swap, unknown }; // code: of a program or library that the process executes
    uint32_t thread = 0; // index into Process::threads
    uint64_t address = 0; // of the instruction
    Source source = Source::unknown;
    std::string file;
    uint64_t faults = 0;
    uint64_t ahead = 0; // of them, a little above the thread's fault before, in the same mapping
    uint64_t mapped_bytes = 0;
};

// Goroutines of a Go program that waited at one place (trace::GoroutineWait).
struct GoroutineWait {
    uint32_t path = 0;  // index into Process::paths; 0: not known
    std::string reason; // in the words of Go's runtime
    uint64_t looks = 0, time_ns = 0;
    uint64_t saved_ns = 0; // of wall time, at most, with all processors of Go in use
};

struct Goroutines {
    uint32_t processors = 0; // that Go may use at the same time
    uint64_t looks = 0, time_ns = 0, runnable_ns = 0, most = 0; // see trace::GoroutineLooks
    std::vector<GoroutineWait> waits;
};

// A loop that only waits for what other threads store, without leaving its CPU.
struct SpinLoop {
    uint64_t begin = 0, end = 0; // addresses: of the first instruction, and behind the last one
    uint64_t instruction = 0;    // that looks at the variable, 0: not known
    uint32_t width = 0;          // bytes that it looks at
    bool pauses = false;         // it contains PAUSE
    bool stores = false;         // it tries to take what it waits for
    uint64_t address = 0;        // of the variable, 0: not known, or not always the same
    uint64_t samples = 0, time_ns = 0;
    uint64_t yield_return = 0;   // where its call of sched_yield returns to, 0: it makes none
    double yield_kernel_factor = 0; // what such calls take in the kernel for each second that samples show of them; 0: they show it
};

// What the holder of a lock did while a thread waited for it.
struct LockHolder {
    uint32_t thread = 0, path = 0; // who waits, and where
    uint64_t object = 0;
    uint32_t holder = 0;           // index into Process::threads
    uint32_t holder_path = 0;      // 0: not known
    int holder_call = -1;          // the system call that it was blocked in; -1: none, or not known
    bool holder_lacks_cpu = false; // it could have run, but had no CPU
    uint64_t looks = 0, time_ns = 0;
    uint64_t wall_ns = 0; // of the run's wall time, what depended on the holder through this wait
};

// Who went on while a thread waited for it.
struct WaitedFor {
    enum class Relation : uint8_t {
        peer,  // has the other end of the pipe or socket
        child, // a child process
        end,   // a thread that is joined
        work   // ran meanwhile; who wakes the waiter is not known
    };
    uint32_t thread = 0, path = 0; // who waits, and where
    int system_call = -1;
    std::string descriptor;
    uint64_t object = 0;
    Relation relation = Relation::work;
    uint32_t peer_process = 0;     // index into Run::processes
    uint32_t peer_thread = 0;      // index into its threads
    uint32_t peer_path = 0;        // index into its paths; 0: not known
    int peer_call = -1;            // that it was blocked in; -1: none, or not known
    uint64_t looks = 0, time_ns = 0;
    uint64_t wall_ns = 0; // of the run's wall time, what depended on the peer through this wait
};

// How many threads of a process were active at the same time: on a CPU, or preempted.
struct ThreadsActive {
    static constexpr size_t kBins = 16;
    uint64_t first_ns = 0, last_ns = 0;      // known between them; equal: not known
    std::array<uint64_t, kBins> active_ns{}; // wall time by the number of active threads: none, 1, ... 15 and more
};

// Off-CPU intervals of a thread, exact but for `broken`.
struct ThreadSwitches {
    static constexpr size_t kBins = 8; // below 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, 10 s, and longer
    bool stopped = false;              // what came after last_ns was not recorded
    uint64_t first_ns = 0, last_ns = 0; // known between them
    uint64_t on_ns = 0;                // on a CPU
    uint64_t blocked_count = 0, blocked_ns = 0, preempted_count = 0, preempted_ns = 0;
    uint64_t broken_count = 0, broken_ns = 0; // intervals of which a record was lost
    std::array<uint64_t, kBins> blocked_counts{}, blocked_times_ns{}, preempted_counts{};

    // Enough of the thread's life is known to take it for the whole.
    bool known() const { return last_ns > first_ns && broken_ns * 50 <= last_ns - first_ns; }
};

} // namespace plumb::model
