// What one machine instruction makes of whole general registers (of 32 or 64 bits), from its bytes, for the few kinds that
// loops count, step and compare with.
#pragma once

#include "platform/code/decoder.h"
#include "platform/code/memory_instruction.h"

namespace plumb::shim {

struct RegisterInstruction {
    enum class Operation : uint8_t {
        other,
        move,           // to = source
        extend_sign,    // to = source, a signed number of 32 bits
        address,        // to = `address`, which is not accessed
        add, subtract,  // to = to +- source
        compare, test,  // the flags of to - source, to & source
        exclusive_or,   // of two registers
        multiply,       // to = source * constant
        shift_left,     // to = to << constant
    };
    Operation operation = Operation::other;
    bool wide = false;         // 64 bits, else 32
    bool keeps_flags = false;  // that conditional jumps look at; false for a call, as the callee may change them
    int8_t to = kNoRegister;
    int8_t source = kNoRegister; // kNoRegister: `constant`
    int64_t constant = 0;
    MemoryOperand address = {};
    uint32_t mixed = 0; // bit n: register n is one of the two that arithmetic, a conditional move or one that widens takes
};

// False: not an instruction, or cut off after `bytes`. Signal-safe once the decoder is loaded; about 2 KiB of stack.
bool decode_register_instruction(const uint8_t* code, size_t bytes, RegisterInstruction* instruction);

} // namespace plumb::shim
