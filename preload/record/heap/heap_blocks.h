// In which block an address lies, and who allocated that block.
#pragma once

#include "record/process/trace_writer.h"

namespace plumb::shim {

struct BlockInfo {
    uint64_t start;
    uint64_t bytes; // as requested
    trace::NodeId path; // of the allocation, 0: not known
    trace::BlockKind kind;
};

// The live block that contains this address: the calling thread's stack (if learn_stack() was called in it), a heap
// block, or a large mapping of the program. With --heap=full every heap block is known, with sampled allocations those
// that were sampled and those of 64 KiB and more. False: none of them.
// Lock-free, signal-safe, takes no guard; some microseconds, at most some tens. A block that another thread allocates
// or frees meanwhile may be found or not.
bool block_of(uint64_t address, BlockInfo* block);

// Lets block_of() know the calling thread's stack. Once is enough for each thread. Not signal-safe: asks the C library.
void learn_stack(const Guard&);

} // namespace plumb::shim
