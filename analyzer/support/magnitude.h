#pragma once

#include <cstdint>

namespace plumb {

// Of any value, the lowest included.
constexpr uint64_t magnitude(int64_t value) {
    return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

} // namespace plumb
