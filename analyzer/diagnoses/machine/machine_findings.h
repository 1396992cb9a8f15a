// What is out of plumb on a machine that plumb system looked at. The programs there belong to anybody, and none of them is "the
// run": a finding's fractions are parts of the time of the programs that it is about (Finding::whole). Their ids are those of the
// same causes in a run.
#pragma once

#include "analyses/system/system_summary.h"
#include "diagnoses/finding.h"
#include "kernel_log/study.h"
#include "model/call_paths.h"

#include <string>
#include <vector>

namespace plumb {

struct MachineInput {
    model::CallPaths& paths;
    const SystemSummary& system;
    const kernel_log::Study* kernel_log; // what the kernel wrote meanwhile; null: not recorded
};

struct MachineDiagnosis {
    const char* id;
    std::vector<Finding> (*diagnose)(const MachineInput& input);
};

// Threads that wait for a CPU while others idle (medium to high), or because there are more threads than CPUs (noted).
std::vector<Finding> contended_cpus(const MachineInput& input);
// Programs of which the kernel takes much of the time: by system call or fault, with the routine and the line that calls.
std::vector<Finding> kernel_routines(const MachineInput& input);
// Split locks that the kernel's log speaks of.
std::vector<Finding> logged_split_locks(const MachineInput& input);
// NUMA nodes full of cached files, from which allocations went elsewhere.
std::vector<Finding> full_nodes(const MachineInput& input);
// Threads that compute without a pause, and what takes their CPUs from them now and then.
std::vector<Finding> interrupted_workers(const MachineInput& input);

inline constexpr MachineDiagnosis kMachineDiagnoses[] = {{"cpu-oversubscribed", contended_cpus},
                                                         {"kernel-time", kernel_routines},
                                                         {"split-lock", logged_split_locks},
                                                         {"page-cache-spill", full_nodes},
                                                         {"os-noise", interrupted_workers}};

} // namespace plumb
