// What one machine instruction does to memory, from its bytes. Shared by the shim and the analyzer.
#pragma once

#include "platform/code/decoder.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

enum class Segment : uint8_t { none, fs, gs };

// Of an index register: A64 extends the lower 32 bits of one.
enum class IndexPart : uint8_t { whole, low_unsigned, low_signed };

// address = segment base + base + index * scale + displacement, of registers as they are before the instruction
struct MemoryOperand {
    int8_t base, index;   // kNoRegister: none
    uint8_t scale;        // 0 without an index
    Segment segment;
    uint16_t width;       // bytes
    bool load, store;
    bool stack;           // the implicit operand of push, pop, call, ret, enter, leave; `displacement` is -8 for a push
    IndexPart index_part;
    int16_t base_step;    // what the instruction itself adds to `base` (A64: pre- and post-indexed)
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

// Bit n: register n is the base, which the instruction moves on by a known step.
inline uint32_t stepped_base(const MemoryOperand& operand) { return operand.base_step != 0 ? 1u << operand.base : 0; }

// The part of the index that counts.
inline uint64_t index_value(const MemoryOperand& operand, const Registers& registers) {
    const uint64_t whole = registers[operand.index];
    if (!kIndexMayBePart)
        return whole;
    switch (operand.index_part) {
    case IndexPart::low_unsigned:
        return static_cast<uint32_t>(whole);
    case IndexPart::low_signed:
        return static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(whole))});
    case IndexPart::whole:
        break;
    }
    return whole;
}

// Signal-safe. `segment_base`: of the operand's segment, ignored when it has none.
inline uint64_t operand_address(const MemoryOperand& operand, const Registers& registers, uint64_t segment_base) {
    uint64_t address = static_cast<uint64_t>(operand.displacement);
    if (operand.base != kNoRegister)
        address += registers[operand.base];
    if (operand.index != kNoRegister)
        address += index_value(operand, registers) * operand.scale;
    return operand.segment == Segment::none ? address : address + segment_base;
}

} // namespace plumb::shim
