// The parallel job that this process belongs to, from what its launcher says.
#pragma once

#include <string>

namespace plumb::record {

std::string host_name(); // of this machine, as the kernel reports it; empty: not known

struct JobIdentity {
    std::string launcher; // as plumb/launchers.h names it; empty: none, also in a job script
    std::string id;       // the same in all ranks of one job and in no other job of this user at this time
    int rank = -1, rank_count = -1;
    int local_count = -1; // ranks on this node; -1: not known

    // Shells and scripts between the launcher and this process do not matter. `proc_root`: "/proc" except in tests.
    static JobIdentity from_environment(const std::string& proc_root = "/proc");
};

} // namespace plumb::record
