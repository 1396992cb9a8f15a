// Consecutive places on a cable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::network {

struct Stretch {
    uint32_t begin = 0, size = 0;
    bool contains(uint32_t place, uint32_t cable) const { return (place + cable - begin) % cable < size; }
};

// The shortest one with all that are used: of a ring it is what is left without the longest gap. One place at least must be used.
Stretch shortest_stretch(const std::vector<bool>& used, bool wraps);

} // namespace plumb::network
