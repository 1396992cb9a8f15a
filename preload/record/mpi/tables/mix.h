// Hashing of numbers that must come out alike in all ranks, whatever their binaries: no addresses, no seeds.
#pragma once

#include <stdint.h>

namespace plumb::shim::mpi {

inline uint64_t mix(uint64_t value) {
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93u;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93u;
    return value ^ value >> 32;
}

inline uint64_t mix(uint64_t former, uint64_t value) { return mix(former * 0x9e3779b97f4a7c15u + value + 1); }

} // namespace plumb::shim::mpi
