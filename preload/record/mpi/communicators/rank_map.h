// Ranks of a group as ranks of MPI_COMM_WORLD. Most groups are regular (everybody, a row, a column of a grid) and need
// no table.
#pragma once

#include "record/mpi/tables/mix.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim::mpi {

// Zeroed memory is a map of nobody. Plain data: copies share the table, which one of them owns.
struct RankMap {
    uint32_t size;
    int32_t first, stride;
    const int32_t* table; // null: rank i is first + i * stride
    bool known;

    // -1: not known, or no such rank.
    int32_t world_rank(int32_t rank) const {
        if (static_cast<uint32_t>(rank) >= size || !known)
            return -1;
        return table ? table[rank] : first + rank * stride;
    }

    // Takes over what `ranks` says, with a table in pages of its own where that is needed; without memory for it the
    // ranks are not known. Any rank below 0 (MPI_UNDEFINED): not known.
    void set(const int32_t* ranks, uint32_t count);
    void release();

    static RankMap regular(uint32_t size, int32_t first, int32_t stride) { return {size, first, stride, nullptr, true}; }
};

// The same for the same ranks in the same order.
uint64_t hash_of_ranks(const int32_t* ranks, uint32_t count);
uint64_t hash_of_ranks(const RankMap&);

} // namespace plumb::shim::mpi
