// What one round of an innermost loop does: floating point operations by width and precision, accesses and their strides,
// calls, conditions, and what it carries over.
#pragma once

#include "code/carried_values.h"
#include "code/loop_streams.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plumb::code {

struct LoopFacts {
    uint64_t begin = 0, end = 0; // addresses: lowest, and behind the highest
    size_t instructions = 0;
    std::array<unsigned, Operation::kKinds> scalar{}, packed{}; // instructions by Operation::Kind
    unsigned scalar_operations = 0, packed_operations = 0; // floating point operations that they do
    unsigned single_operations = 0; // of both, those in single precision
    unsigned x87_operations = 0;
    unsigned vector_bytes = 0;  // of the widest packed arithmetic; 0: none is packed
    unsigned gathers = 0;       // instructions
    unsigned wide_conversions = 0; // of integers of 64 bits
    unsigned loads = 0, stores = 0; // of data, not of the stack's own instructions
    size_t exits = 0;           // blocks that may leave it
    size_t conditional_blocks = 0; // that a round may leave out, without those that only call
    struct Call {
        uint64_t target = 0; // 0: not known
        bool behind_root = false; // in a round that has a square root instruction as well
        bool always = false;      // each round makes it
    };
    std::vector<Call> calls;
    LoopStreams accesses;
    std::vector<CarriedValue> carried;
    double chain_cycles = 0;      // a round takes at least so long for what it carries over
    double throughput_cycles = 0; // and at least so long for its instructions, on a processor that starts 4 a cycle

    unsigned operations() const { return scalar_operations + packed_operations; }
    unsigned count(Operation::Kind kind) const {
        return scalar[static_cast<size_t>(kind)] + packed[static_cast<size_t>(kind)];
    }
    // Of the floating point operations; 0 where there are none.
    double scalar_share() const { return operations() ? static_cast<double>(scalar_operations) / operations() : 0; }
    unsigned element_bytes() const { return 2 * single_operations > operations() ? 4 : 8; } // of most operations
};

LoopFacts facts_of(const ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<Loop>& loops, const Loop& loop);

// Whether both may be made of the same source loop: the same operations in the same proportions, whatever their width and
// unrolling.
bool do_alike(const LoopFacts& left, const LoopFacts& right);

} // namespace plumb::code
