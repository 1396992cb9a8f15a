// Whether one process takes CPU time that another one wants, or only what that leaves.
#pragma once

#include "platform/task_stat.h"

#include <cstdint>
#include <string>

namespace plumb::platform {

// True if the kernel gives process `other` less than a tenth of a CPU that `process` could use: its policy is SCHED_IDLE, or it
// is ten steps of niceness behind (sched(7): each step changes a weight by a factor of 1.25), and nothing but that decides
// between the two. Between processes of different control groups, or sessions under autogroup, the weights of these decide:
// false then, and where one of them cannot be read.
bool leaves_cpus_to(const std::string& proc_root, uint32_t other, const TaskStat& other_stat, uint32_t process);

} // namespace plumb::platform
