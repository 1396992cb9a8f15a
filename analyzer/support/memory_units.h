// Units of memory, in bytes: a line of the caches and the smallest page, as most machines have them.
#pragma once

#include <cstdint>

namespace plumb {

inline constexpr uint64_t kLine = 64, kPage = 4096;

} // namespace plumb
