// Which registers one machine instruction takes and gives, and what else of it matters to whether a loop only waits.
#pragma once

#include "platform/code/decoder.h"

#include <cstdint>
#include <span>

namespace plumb::record {

using shim::kCallerSaved;
using shim::kFramePointer;

// Whether `number`, the register of an operand, is among the general registers `overwritten`.
constexpr bool changes(uint32_t overwritten, int8_t number) {
    return number != shim::kNoRegister && number != shim::kNextInstruction && (overwritten >> number & 1);
}

struct RegisterUse {
    uint32_t taken = 0; // bit n: what the instruction does depends on general register n; addresses included
    uint32_t given = 0; // bit n: general register n has a value afterwards that depends on `taken` and memory alone
    uint32_t kept = 0;  // bit n: register n is changed in part or perhaps: its former value counts as well
    uint32_t taken_wide = 0; // those of `taken` of which more than the lowest byte is
    uint32_t given_low = 0;  // those of `kept` whose lowest byte alone is given, surely
    bool pause = false;
    bool swaps = false;            // xchg with memory
    bool compares_and_swaps = false; // cmpxchg with memory: rax holds what it expects
    bool sets_bit = false;         // bts with memory
    bool fills_vector = false;     // it gives vector registers a value, and takes none of them
    bool other_state = false;      // vector registers that are taken, the x87, time stamps, ports: not described here
};

// `code` begins with the instruction. False: it is none, or cut off, or the decoder is not loaded.
bool decode_register_use(std::span<const uint8_t> code, RegisterUse* use);

} // namespace plumb::record
