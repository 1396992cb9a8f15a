// What threads that fight over the allocator would take if they did not: the run replayed without the waiting.
#pragma once

#include "analyses/time/allocator_time.h"
#include "model/run.h"

#include <optional>

namespace plumb {

// A call of an allocator takes less than this where no other thread holds its lock or has just written its data: glibc's
// longest common path, with a cold cache, on slow machines. What calls take beyond it is the contention's; a bound, so that what
// stays is rather too much.
inline constexpr double kUncontendedCall_s = 50e-9;

// Part of the run's time that goes, 0..1, of the run without plumb's own part. Of each thread the CPU time stays that it spent
// neither in the C library's locks, nor giving its CPU away (sched_yield), nor in allocator calls beyond kUncontendedCall_s. In
// each slot of the schedule the rest shares the CPUs, and the thread with most of it is the slot's length; sleep for something
// outside the process stays. Empty when no host of the run was watched for long enough.
// `shim_part`: of the run's time, that of the shim.
std::optional<double> contention_part(const model::Run& run, const HeapProfile& profile, double shim_part);

} // namespace plumb
