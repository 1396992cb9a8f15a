// How many CPUs each program and each control group kept busy between two looks.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace plumb::probe {

class BusyPrograms {
  public:
    // `root`: "" for this machine, else a folder with a copy of its /proc and /sys/fs/cgroup. `own_pid` is left out.
    BusyPrograms(std::string root, uint32_t own_pid);

    void look(); // at the processes that there are: what they used since the last look is added up
    void begin(); // forgets what was added up
    // CPU seconds since begin(). Processes of the same name are one program; what a process that is gone used after the last
    // look at it is in its group only.
    const std::map<std::string, double>& programs() const { return programs_; }
    std::string own_group() const; // empty: not known
    std::map<std::string, double> groups() const; // of version 2 of cgroups, those that processes are in

  private:
    struct Process {
        uint64_t start_ticks = 0, cpu_ns = 0;
    };
    std::map<std::string, double> read_groups() const;

    const std::string root_;
    const uint32_t own_pid_;
    std::map<uint32_t, Process> processes_;
    std::map<std::string, double> programs_, groups_at_begin_;
    std::map<std::string, bool> group_names_;
    bool is_first_ = true;
};

} // namespace plumb::probe
