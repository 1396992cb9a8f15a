// Whether the sampled accesses of one instruction scatter over a piece of memory or sweep through it. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::record {

// Twice what the largest translation buffers of today reach with small pages.
constexpr uint64_t kLeastScatteredBytes = 32u << 20;

// What samples of one instruction in one piece of memory tell.
struct SampledPlace {
    uint64_t address = 0;
    uint64_t before = 0;  // where the same thread was seen at the same instruction a short time earlier; 0: nowhere
    uint64_t apart_ns = 0; // that time
    uint64_t earlier = 0;  // and where before that; 0: nowhere
};
struct Scatter {
    bool scattered = false;
    uint64_t lowest = 0, highest = 0;
    uint64_t places = 0, pages = 0; // samples looked at, and the different small pages that they fell into
    uint64_t footprint = 0;         // bytes: as if all of so much memory were used evenly
};
// `followed`: the accesses stand in a loop whose steps the registers do not give. Of others it must be ruled out
// that they sweep through all of the memory between two samples.
Scatter scatter_of(const std::vector<SampledPlace>& places, bool followed);

} // namespace plumb::record
