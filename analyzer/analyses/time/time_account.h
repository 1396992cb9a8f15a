// The time account: every thread second of a run in exactly one class.
//
// What a thread ran, waited for a CPU and slept is known exactly: run_ns and run_delay_ns are the scheduler's, the rest of
// its life is time off the CPU. Only the division of the running time (by time samples) and of the time off the CPU (by
// looks at blocked threads) is sampled: each is scaled to the exact amount, so that the account always adds up. Threads too
// brief to be met by a look or a sample are divided like those of their process that few met.
#pragma once

#include "analyses/time/wait_class.h"
#include "model/call_paths.h"
#include "model/source_resolver.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

enum class TimeClass {
    computing, // user mode, the program's own code and libraries
    allocator, // malloc and similar calls, in user mode or the kernel
    kernel,    // system calls, page faults, interrupts
    mpi,       // running inside the MPI library: transfers, and polling
    spinning,  // loops that only wait for what other threads store, without leaving the CPU
    team,      // running inside an OpenMP library: see the detail, else mostly spinning until the team is there
    plumb,     // code of plumb inside the program
    no_cpu,    // runnable, but waiting for a CPU
    blocked,   // see AccountLine::wait
    short_lived, // whole processes that ended before a sample or a look was due: running or off the CPU
    unknown    // off the CPU and never looked at, or running and never sampled
};

// Of one thread or of many.
struct AccountLine {
    TimeClass kind = TimeClass::unknown;
    WaitKind wait = WaitKind::other; // of blocked time
    std::string detail;              // kernel: the system call, or "page faults"; team: "for a critical or lock", ...
    double seconds = 0;              // thread seconds
    struct Place {
        model::SourceFrame frame; // of the user's own code
        double seconds = 0;
    };
    std::vector<Place> places; // by time, the heaviest first, at most kAccountPlaces
};

inline constexpr size_t kAccountPlaces = 8;

struct ThreadAccount {
    uint32_t process = 0, thread = 0; // indexes into Run::processes and their threads
    double life_s = 0;                // the sum of its lines
    double run_s = 0, no_cpu_s = 0, blocked_s = 0;
    // It waits by design (support/idle_share.h): nearly all its life it was blocked at one place for work that others bring
    // (a condition, events, a pipe, the network, a futex, a signal, a sleep, in MPI), and it is not the first thread of its
    // process.
    bool idles = false;
};

struct TimeAccount {
    double total_s = 0; // thread seconds of the run: lines, idle_s and handed_over_s together
    std::vector<AccountLine> lines; // by time
    double idle_s = 0;  // of threads that wait by design off the CPU, and of teams of OpenMP between their regions, also spinning
    uint32_t idle_threads = 0;
    // Waiting for threads and processes of the run to end: what those do meanwhile is in the account already.
    double handed_over_s = 0;
    std::vector<ThreadAccount> threads; // in the order of the model
    // The wall time, followed back over who waited for whom to what it depended on. Sampled, scaled to `wall_s`: the wall
    // time of the run, once for each recorder. Empty where nobody looked.
    std::vector<AccountLine> wall; // by time
    double wall_s = 0;
    bool looked = false; // blocked threads were looked at; else all time off the CPU is `unknown`

    double seconds_of(TimeClass kind) const;
    double own_s() const { return total_s - idle_s - handed_over_s; } // what shares of lines refer to
    // Sum of all parts less total_s; zero but for rounding.
    double imbalance_s() const;
};

TimeAccount time_account(model::CallPaths& paths);

const char* to_string(TimeClass kind); // stable, for JSON
std::string words_of(const AccountLine& line); // "waiting for a lock"

} // namespace plumb
