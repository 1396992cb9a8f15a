// The program's blocks of 1 MiB and more, in the trace: where, from when until when, and who made them (LargeMap records).
//
// A program may make and free such blocks all the time: the places of freed ones are used again, those freed longest ago
// first, once there are no others, so that what lives now is known however long the program ran.
//
// Each block lies in one of a few places that its address leads to. A place is claimed by one exchange and held for some
// stores; nobody waits for one. Safe in all threads and in forked children.
#pragma once

#include "record/process/trace_writer.h"

#include <stdint.h>

namespace plumb::shim {

inline constexpr uint64_t kLargeBytes = 1 << 20;

// What was there before has ended, if nobody said so.
void large_block_begins(const Guard&, uint64_t address, uint64_t bytes, trace::LargeMapKind kind,
                        trace::NodeId path);
void large_block_ends(uint64_t address); // none begins there: nothing happens

// A block that is about to be moved or unmapped: it has ended from now on, because another thread may own the address a
// moment later. Its place stays taken until one of the two below says whether it did end.
struct LargeBlockEnd {
    void* place = nullptr; // null: none begins there
    uint64_t address = 0;
};
LargeBlockEnd large_block_may_end(uint64_t address);
void large_block_ended(const LargeBlockEnd&);
void large_block_goes_on(const LargeBlockEnd&);

void start_large_blocks(); // a recording begins, in a new process or a forked child; no other thread records
uint64_t large_blocks_refused();

} // namespace plumb::shim
