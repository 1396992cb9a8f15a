// How sure a finding must be, and how much it names, where a diagnosis has no reason for other figures.
#pragma once

#include <cstddef>

namespace plumb {

inline constexpr double kLeastConfidence = 0.75; // of what rests on counted samples
inline constexpr size_t kMostLines = 5;          // of source, those with the most time

} // namespace plumb
