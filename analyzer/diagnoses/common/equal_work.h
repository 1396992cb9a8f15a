// How far equal work takes unequal time.
#pragma once

namespace plumb {

// Of the mean time that a thread or rank works: equal work takes so much longer on one CPU than on another, or now and then, by
// frequency, caches, a neighbour on the same core, interrupts or a hypervisor. What is not more may be no fault of the program. A
// judgement from runs on shared machines, where up to 11 % were seen.
inline constexpr double kEqualWorkDiffers = 0.15;

} // namespace plumb
