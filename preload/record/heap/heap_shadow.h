// Which call path allocated each live block, and how large it was: a table that mirrors the address space.
//
// Every 16 bytes of address space have one 32-bit word. A block of more than 16 bytes owns at least two of them: its
// call path and its size; a smaller one keeps both in one word. The thread that got the block writes, the thread that
// frees it takes; a program that frees what it owns orders the two, so there are no locks. The table's own memory
// appears as it is touched: at most a quarter of the heap's, one page for a large block.
#pragma once

#include "record/process/trace_writer.h"

namespace plumb::shim {

struct ShadowEntry {
    bool known; // false: the block was not recorded when it was allocated
    trace::NodeId path;
    uint64_t bytes; // as requested
};

// All of these are thread-safe and signal-safe.
// False: no memory for this part of the table, or a path number of 2^25 - 1 and more: the block stays unknown.
bool shadow_store(uint64_t address, trace::NodeId path, uint64_t bytes);

// Takes the entry out, before the block is given back.
ShadowEntry shadow_take(uint64_t address);

// The block that contains this address, if it begins at most `reach` bytes before it. Looks only: a block that another
// thread frees meanwhile may be found or not.
bool shadow_find(uint64_t address, uint64_t reach, uint64_t* start, ShadowEntry* entry);

// Puts it back: the block was not given back after all.
inline void shadow_restore(uint64_t address, const ShadowEntry& entry) {
    if (entry.known)
        shadow_store(address, entry.path, entry.bytes);
}

} // namespace plumb::shim
