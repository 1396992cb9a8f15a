// Times are kept in nanoseconds, as the kernel gives them, and reported in seconds.
#pragma once

#include <cstdint>

namespace plumb {

inline constexpr uint64_t kMillisecond_ns = 1'000'000;

constexpr double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

} // namespace plumb
