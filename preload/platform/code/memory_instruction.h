// What one machine instruction does to memory, from its bytes. Shared by the shim and the analyzer.
#pragma once

#include "platform/code/decoder.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

enum class Segment : uint8_t { none, fs, gs };

// address = segment base + base + index * scale + displacement
struct MemoryOperand {
    int8_t base, index;   // kNoRegister: none
    uint8_t scale;        // 0 without an index
    Segment segment;
    uint16_t width;       // bytes
    bool load, store;
    bool stack;           // the implicit operand of push, pop, call, ret, enter, leave; `displacement` is -8 for a push
    int64_t displacement;
};

struct MemoryInstruction {
    uint8_t length;         // bytes
    uint8_t operand_count;  // 0: it touches no memory that is known
    MemoryOperand operands[3];
    bool locked;            // LOCK prefix, or xchg with memory
    bool string;            // movs, stos, cmps, scas, lods
    bool repeated;          // with a REP prefix: rcx elements
    bool vector;            // a packed access of 16 bytes or more; only some processors trap at these
    bool gather;            // several addresses, not described here: operand_count is 0
    bool branch;            // jump, call, return, interrupt, system call
    uint32_t overwritten;   // bit n: register n is changed (partly or wholly)
};

// False: not an instruction, or cut off after `bytes`. Signal-safe once the decoder is loaded; about 2 KiB of stack.
bool decode_memory_instruction(const uint8_t* code, size_t bytes, MemoryInstruction* instruction);

// Signal-safe. `segment_base`: of the operand's segment, ignored when it has none.
inline uint64_t operand_address(const MemoryOperand& operand, const Registers& registers, uint64_t segment_base) {
    uint64_t address = static_cast<uint64_t>(operand.displacement);
    if (operand.base != kNoRegister)
        address += registers[operand.base];
    if (operand.index != kNoRegister)
        address += registers[operand.index] * operand.scale;
    return operand.segment == Segment::none ? address : address + segment_base;
}

} // namespace plumb::shim
