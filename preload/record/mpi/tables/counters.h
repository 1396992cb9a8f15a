// Fields of records in the trace file that a reader may look at any time.
#pragma once

#include <stdint.h>

namespace plumb::shim::mpi {

inline void set(uint64_t& field, uint64_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }
inline void set(uint32_t& field, uint32_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }
inline void add_to(uint64_t& field, uint64_t amount) { set(field, field + amount); }

// value * factor / divisor, which must fit. In whole numbers: the shim has no others (preload/meson.build).
inline uint64_t scaled(uint64_t value, uint64_t factor, uint64_t divisor) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(static_cast<Wide>(value) * factor / divisor);
}

} // namespace plumb::shim::mpi
