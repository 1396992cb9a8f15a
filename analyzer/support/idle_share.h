// When a thread waits by design. Idle workers of a pool and threads that handle rare events are blocked in one place for
// nearly all their life; that costs nothing. The recorder follows the wall time past such threads, the time account sets
// them apart, and the findings on waits leave them out: all three must mean the same threads.
#pragma once

namespace plumb {

// Of its life, in one place.
inline constexpr double kIdleShare = 0.9;

// Both in the same unit.
constexpr bool is_idle(double blocked_in_one_place, double life) { return blocked_in_one_place >= kIdleShare * life; }

} // namespace plumb
