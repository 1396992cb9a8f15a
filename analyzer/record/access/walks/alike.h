#pragma once

#include <algorithm>
#include <cstdint>

namespace plumb::record {

// Walks whose figures differ by no more than 1/16 are timed together.
constexpr bool alike(uint64_t a, uint64_t b) {
    return std::max(a, b) - std::min(a, b) <= std::max(a, b) / 16;
}

} // namespace plumb::record
