// Why an access is unaligned, and which change of the data's layout cures it.
#pragma once

#include "analyses/accesses/touched_data.h"
#include "analyses/statements.h"
#include "model/alignment.h"

#include <string>
#include <vector>

namespace plumb {

struct Misalignment {
    enum class Cause {
        unknown,
        packed_structure, // the structure puts the member where its type would not lie
        common_block,     // what stands before the member in the block
        cast,             // the object may lie where it does; what is made of it needs more
        odd_offset,       // an offset into a block or buffer
        allocator,        // the block itself begins at such an address
        stack_pointer,    // the stack pointer
    };
    Cause cause = Cause::unknown;
    std::string why; // a clause: "the common block puts x at offset 4, no multiple of 8"; empty: unknown
    std::vector<Advice> advice;
};

const char* to_string(Misalignment::Cause cause);

// `address`: one that such an access had.
Misalignment why_unaligned(const TouchedData& data, const model::AccessKind& kind, uint64_t address);

} // namespace plumb
