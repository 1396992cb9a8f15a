// Time inside the kernel that time samples do not show: without privilege perf samples user mode alone, and the samples of a
// thread stand for less than the CPU time that it used. Timers (where perf is forbidden) hit the kernel's time, too.
#pragma once

#include "model/run.h"

namespace plumb {

// 0..1, of the thread's CPU time, by the kernel's own account of user and system time. 0 where samples show the kernel.
double unsampled_kernel_share(const model::Run& run, const model::Process& process, const model::Thread& thread);

} // namespace plumb
