// How findings name threads and CPUs.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/common/schedule.h"
#include "model/call_paths.h"

#include <string>
#include <vector>

namespace plumb {

// "solver (thread 4711)", with its rank where there is one.
std::string task_name(const model::Run& run, const Task& task);

// "CPU 3", "CPUs 3 and 4", "CPUs 0-3 and 7".
std::string cpu_names(const model::CpuSet& cpus);

// "1 thread", "4 threads", or "4 processes" when each task is a process of its own.
std::string count_of(const std::vector<Task>& tasks);

// Where these tasks spent their time: the user's lines by sampled time.
LineShares lines_of(model::CallPaths& paths, const std::vector<Task>& tasks);

} // namespace plumb
