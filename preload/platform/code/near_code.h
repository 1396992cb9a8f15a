// Small pieces of executable memory at addresses that a jump of given reach finds.
//
// Callers hold one lock around everything here but the look-up, which is lock-free and signal-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

struct AddressRange {
    uint64_t low, high; // first address, first behind it
};

// A piece of `bytes` whose first byte, at a multiple of 16, lies within `range`, writable and executable, filled with breakpoints. Never
// where another mapping is, nor where the heap's break or the main stack may grow soon. 0: no such place, or the
// kernel allows no such memory. `owner` (not 0) is what owner_of_near_code() says of every byte of the piece.
// Pieces are never given back: some thread may stand in them. Signal-safe.
uint64_t allocate_near_code(AddressRange range, size_t bytes, uint16_t owner);

// 0: not a piece.
uint16_t owner_of_near_code(uint64_t address);

} // namespace plumb::shim
