// The live heap blocks of 64 KiB and more, to be found by any address inside them.
//
// A block of 2^k to 2^(k+1) bytes contains one or two multiples of 2^k; it stands in a hash table under the first of
// them. An address looks, for each k there is a block of, at the three multiples that such a block could have. Nothing
// is searched, whatever the size of the heap. Lock-free, signal-safe; what finds no room is not found.
#pragma once

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr uint64_t kIndexedBlockBytes = 64 * 1024;

// From before the program learns of the block until before it is given back. Smaller blocks are ignored.
void index_large_block(uint64_t start, uint64_t bytes, trace::NodeId path);
void unindex_large_block(uint64_t start, uint64_t bytes);

// False: no such block, or one that another thread works on at this moment.
bool find_indexed_block(uint64_t address, uint64_t* start, uint64_t* bytes, trace::NodeId* path);

} // namespace plumb::shim
