// Where the accesses of a loop lie, and where they would lie if whoever laid out their data had aligned it. Pure.
#pragma once

#include "record/access/loops/replayable_loop.h"

#include <cstdint>
#include <vector>

namespace plumb::record {

// Part of the accesses of `rounds` rounds that reach into the next block of `boundary` bytes (a power of two).
double crossing_share(const LoopAccess& access, uint64_t rounds, uint64_t boundary);

// Accesses that move alike and lie close together belong to one array. Indexes into `accesses`, by address.
struct AccessGroup {
    int64_t round = 0; // bytes
    std::vector<size_t> members;
};
std::vector<AccessGroup> groups_of(const std::vector<LoopAccess>& accesses);

// The same accesses after a change of layout that a compiler or an allocator can make: what a round accesses keeps its order
// and is laid out anew, each part at a multiple of its size (packed accesses: of 8 bytes, or of their width where the loop
// sweeps in steps of that); the distance of two rounds grows to a multiple of the largest; each group begins a line. Parts that
// overlap, in one round or from round to round, are meant to lie where they do: they keep their distance, and a group that
// overlaps with itself is only moved to a multiple of 8 bytes.
std::vector<LoopAccess> aligned_layout(const std::vector<LoopAccess>& accesses);

} // namespace plumb::record
