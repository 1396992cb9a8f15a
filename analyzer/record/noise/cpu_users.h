// Which threads of the machine ran between two looks, and for how long: /proc/PID/task/TID/schedstat, which anybody may read.
// Used where the kernel's records of switches do not say who had a CPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb::record {

struct CpuUse { // of one thread between two looks
    uint32_t pid = 0, tid = 0;
    int cpu = -1; // last one it ran on
    uint64_t run_ns = 0, slices = 0;
    std::string name;
    uint64_t given_ns = 0; // of parts of absences that must have been its
    uint64_t ahead_ns = 0; // of that beyond run_ns: what the next look will count
};

class CpuUsers {
  public:
    // `own`: this process, whose threads are left out. `most_files`: that may be kept open; others are opened at each look.
    CpuUsers(std::string proc_root, uint32_t own_pid, size_t most_files);
    ~CpuUsers();
    CpuUsers(const CpuUsers&) = delete;
    CpuUsers& operator=(const CpuUsers&) = delete;

    // What ran since the look before; the first one says nothing. Threads that began and ended in between are not seen.
    std::vector<CpuUse> look();

  private:
    struct Thread {
        uint32_t pid = 0;
        int fd = -1;
        uint64_t run_ns = 0, slices = 0;
        uint64_t round = 0; // in which it was last there
        bool is_new = true;
    };
    void find_threads(uint32_t pid);
    void read(uint32_t tid, Thread& thread, std::vector<CpuUse>& uses);

    const std::string proc_root_;
    const uint32_t own_pid_;
    const size_t most_files_;
    size_t files_ = 0;
    uint64_t round_ = 0;
    std::map<uint32_t, Thread> threads_;  // by tid
    std::map<uint32_t, uint64_t> listed_; // by pid: round in which its threads were listed
};

} // namespace plumb::record
