// Whose time it was on the CPUs of a machine that was looked at (plumb system): by CPU, by program, by routine of the kernel.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct CpuTime { // seconds
    double user_s = 0, system_s = 0, interrupt_s = 0, steal_s = 0, idle_s = 0;
    double busy_s() const { return user_s + system_s + interrupt_s; } // with what programs and the kernel did
    double all_s() const { return busy_s() + steal_s + idle_s; }
};

struct SystemCpu {
    int cpu = 0;
    CpuTime time;
};

struct SystemProgram { // processes of one name
    std::string name;
    bool is_kernel = false; // threads of the kernel
    size_t processes = 0;
    uint32_t pid = 0; // of a single one
    double user_s = 0, system_s = 0;
    double waiting_s = 0; // of its threads, without a CPU
    double switches = 0;
    std::string routine; // of the kernel, in which most of system_s was sampled; empty: not sampled
    double cpu_s() const { return user_s + system_s; }
};

struct KernelRoutine {
    std::string name;
    double seconds = 0;
    std::string program; // for which most of it was
    double of_program_s = 0;
};

struct SystemInterrupts { // of one source
    std::string name;
    double rate_hz = 0; // on all CPUs together
};

struct SystemMemory { // of a NUMA node, when last read
    int node = 0;
    double total_bytes = 0, free_bytes = 0, file_bytes = 0, anonymous_bytes = 0;
};

struct SystemSummary {
    double seconds = 0;                  // wall time
    std::vector<SystemCpu> cpus;         // that were looked at
    CpuTime time;                        // of these, as the kernel accounts for it
    std::vector<SystemProgram> programs; // by CPU time
    double unseen_s = 0;                 // user and kernel time of programs that came and went between two looks, or are hidden
    bool is_sampled = false; // then times of programs on a part of the CPUs are those of samples, else of their threads by /proc
    std::vector<KernelRoutine> routines; // by time; empty: not sampled, or their names are not known
    double kernel_sampled_s = 0;         // of all routines
    std::vector<SystemInterrupts> interrupts; // by rate
    double waiting_threads = 0;               // mean number of those that could run and had no CPU
    double switches_hz = 0;                   // of all threads
    std::vector<SystemMemory> memory;
};

// Of a run that plumb system recorded, of its first host.
SystemSummary summarise_system(model::CallPaths& paths);

} // namespace plumb
