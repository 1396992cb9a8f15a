// Hash of numbers that come from a file. The standard one is the number itself: a hostile file could choose numbers
// that all fall into one bucket and make reading quadratic. This one depends on a secret of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace plumb::trace {

struct MixedHash {
    static uint64_t secret() {
        static const uint64_t value = static_cast<uint64_t>(std::random_device()()) << 32 | std::random_device()();
        return value;
    }

    size_t operator()(uint64_t number) const {
        uint64_t hash = (number ^ secret()) * 0x9e3779b97f4a7c15; // the finaliser of splitmix64
        hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
        hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
        return hash ^ hash >> 31;
    }
};

} // namespace plumb::trace
