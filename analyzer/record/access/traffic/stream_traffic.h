// What one round of a loop moves between memory and the caches. Pure.
#pragma once

#include "record/access/loops/loop_streams.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

// Accesses that walk through the same piece of memory one behind the other: whoever is behind finds the lines in a cache.
struct Stream {
    size_t leader = 0;            // index of the one in front
    std::vector<size_t> members;  // all of them, the leader first
    bool loads = false, stores = false;
    bool past_caches = false;     // all its stores
    uint64_t line_bytes = 0;      // of lines that one round touches for the first time; of denser streams its step

    // A line that is stored to is read first, unless the store goes past the caches.
    uint64_t read_bytes() const { return loads || (stores && !past_caches) ? line_bytes : 0; }
    uint64_t written_bytes() const { return stores ? line_bytes : 0; }
};

// `positions`: of one sample. `cache_bytes`: what the caches keep of what one thread passes by.
std::vector<Stream> streams_of(std::span<const StreamPosition> positions, uint64_t cache_bytes);

} // namespace plumb::record
