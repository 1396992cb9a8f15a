// How much of the last cache this machine can use. Virtual machines show the whole cache of a processor that they have a few CPUs
// of; what comes around after more than their part of it comes from memory, whatever the cache is said to keep.
#pragma once

#include "platform/machine_cache.h"

#include <cstdint>
#include <functional>

namespace plumb::record {

inline constexpr uint64_t kLeastUsableCache_bytes = 8 << 20; // what is found out is no less: caches before the last one are smaller

// `rate_of`: bytes a second that one thread reads when it goes over so many bytes again and again; asked for one size after the
// other, each twice the one before, up to half of `said_bytes`. The first one that is slow: what is used may be less, by half of
// it. `said_bytes` where none is, and where less than kLeastUsableCache_bytes is used. Pure.
uint64_t usable_cache_bytes(uint64_t said_bytes, const std::function<double(uint64_t bytes)>& rate_of);

// Measured within a quarter of a second, or as an earlier run found it within an hour: neighbours come and go. Takes memory of half
// of `said_bytes` at most; where that is more than `most_bytes`, `said_bytes` is the answer. `now_ns`: CLOCK_MONOTONIC.
uint64_t known_usable_cache_bytes(platform::MachineCache& cache, uint64_t said_bytes, uint64_t most_bytes, uint64_t now_ns);

} // namespace plumb::record
