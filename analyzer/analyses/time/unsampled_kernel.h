// Time inside the kernel that time samples do not show: without privilege perf samples user mode alone, and the samples of a
// thread stand for less than the CPU time that it used. Timers (where perf is forbidden) hit the kernel's time, too.
#pragma once

#include "model/run.h"

namespace plumb {

struct UnsampledKernel {
    // 0..1, of the thread's CPU time, by the kernel's own account of user and system time, less what calls of sched_yield in loops
    // that only wait took. 0 where samples show the kernel.
    double share = 0;
    double yielding_share = 0; // what these calls took in the kernel, 0..1 of the thread's CPU time
    // What each such call took in the kernel for each second that samples show of it. Estimated by what the calls take on this
    // machine, and no more than all that the thread spent in the kernel.
    double per_yield = 0;

    // A site's part of the time that is left, in nanoseconds.
    double weight_ns(const model::Process& process, const model::SampleSite& site) const;
};

// `thread`: index into Process::threads.
UnsampledKernel unsampled_kernel_of(const model::Run& run, const model::Process& process, uint32_t thread);

} // namespace plumb
