#include "platform/code/a64_instruction.h"

namespace plumb::shim::a64 {

namespace {

constexpr uint32_t kZero = 31; // as a general register, where it is not sp

uint32_t bit_of(uint32_t number) { return 1u << number; }
uint32_t bit_unless_zero(uint32_t number) { return number == kZero ? 0 : 1u << number; }

uint32_t rd(uint32_t word) { return bits(word, 4, 0); }
uint32_t rn(uint32_t word) { return bits(word, 9, 5); }
uint32_t rm(uint32_t word) { return bits(word, 20, 16); }

// Data processing, branches and system instructions: the general registers that are given a value. More than are is harmless.
uint32_t written_by_immediate(uint32_t word) {
    const bool is_add = bits(word, 25, 23) == 0b010, is_logical = bits(word, 25, 23) == 0b100;
    const bool sets_flags = is_add ? bit(word, 29) : bits(word, 30, 29) == 0b11;
    const bool may_be_stack = (is_add || is_logical) && !sets_flags;
    return may_be_stack || bits(word, 25, 23) == 0b011 /* with tags */ ? bit_of(rd(word)) : bit_unless_zero(rd(word));
}

uint32_t written_by_register(uint32_t word) {
    const bool second_part = bit(word, 28);
    if (second_part && bits(word, 24, 21) == 0b0010) // conditional compares
        return 0;
    const bool extended_add = !second_part && bit(word, 24) && bit(word, 21);
    return extended_add && !bit(word, 29) ? bit_of(rd(word)) : bit_unless_zero(rd(word));
}

uint32_t written_by_branch(uint32_t word) {
    constexpr uint32_t kScratch = 1u << 16 | 1u << 17;
    if (bits(word, 30, 26) == 0b00101) // b, bl
        return bit(word, 31) ? bit_of(kLink) : 0;
    if (bits(word, 31, 25) == 0b1101011) // br, blr, ret
        return bits(word, 22, 21) == 0b01 ? bit_of(kLink) : 0;
    if (bits(word, 31, 12) == 0b1101'0101'0000'0011'0010) // hints, those that sign and check pointers among them
        return bit_of(kLink) | kScratch;
    if (bits(word, 31, 22) == 0b1101'0101'00 && bit(word, 21)) // mrs, sysl
        return bit_unless_zero(rd(word));
    return 0;
}

// Vector and floating-point instructions that give a general register a value: conversions, fmov, umov, smov.
uint32_t written_by_vector(uint32_t word) {
    const bool is_conversion = bits(word, 30, 24) == 0b0011110 && bits(word, 15, 10) == 0 && bit(word, 21);
    const bool is_fixed_point = bits(word, 30, 24) == 0b0011110 && !bit(word, 21);
    const uint32_t opcode = bits(word, 18, 16);
    const bool to_vector = opcode == 0b010 || opcode == 0b011 || opcode == 0b111;
    if ((is_conversion && !to_vector) || (is_fixed_point && opcode <= 0b001))
        return bit_unless_zero(rd(word));
    const bool is_copy = !bit(word, 31) && bits(word, 29, 21) == 0b001110000 && !bit(word, 15) && bit(word, 10);
    const bool to_general = is_copy && (bits(word, 14, 11) == 0b0101 || bits(word, 14, 11) == 0b0111);
    return to_general ? bit_unless_zero(rd(word)) : 0;
}

// dc zva stores a line of zeros.
bool is_cache_operation(uint32_t word) { return bits(word, 31, 19) == 0b1101'0101'0000'1 && bits(word, 15, 12) == 7; }

MemoryOperand operand_at(uint32_t base, uint32_t width, bool load, bool store, int64_t displacement = 0) {
    MemoryOperand operand = {};
    operand.base = static_cast<int8_t>(base);
    operand.index = kNoRegister;
    operand.width = static_cast<uint16_t>(width);
    operand.load = load;
    operand.store = store;
    operand.displacement = displacement;
    return operand;
}

void add_operand(MemoryInstruction* instruction, const MemoryOperand& operand, bool of_vector) {
    instruction->operands[instruction->operand_count++] = operand;
    instruction->vector |= of_vector && operand.width >= 16;
}

// The base register is given the address (before, for pre-indexed forms) plus `step`.
void write_back(MemoryInstruction* instruction, uint32_t base, int64_t step) {
    instruction->operands[0].base_step = static_cast<int16_t>(step);
    instruction->overwritten |= bit_of(base);
}

// ld1 to ld4, st1 to st4 and the forms of one lane.
bool decode_structures(uint32_t word, MemoryInstruction* to) {
    static constexpr uint8_t kRegisters[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2, 0, 0, 0, 0, 0}; // by opcode
    const bool is_lane = bit(word, 24), load = bit(word, 22), steps = bit(word, 23);
    uint32_t width;
    if (is_lane) {
        const uint32_t opcode = bits(word, 15, 13), size = bits(word, 11, 10);
        const uint32_t lanes = ((opcode & 1) << 1 | bit(word, 21)) + 1;
        const uint32_t scale = (opcode >> 1) == 3 ? size : (opcode >> 1) == 2 ? (size & 1 ? 3 : 2) : opcode >> 1;
        width = lanes << scale;
    } else {
        width = kRegisters[bits(word, 15, 12)] * (bit(word, 30) ? 16u : 8u);
    }
    if (width == 0)
        return false;
    add_operand(to, operand_at(rn(word), width, load, !load), true);
    if (steps && rm(word) == kZero)
        write_back(to, rn(word), width);
    else if (steps)
        to->overwritten |= bit_of(rn(word)); // by a register: where it was is not known afterwards
    return true;
}

// Load-exclusive, store-exclusive, load-acquire, store-release, compare and swap.
bool decode_exclusive(uint32_t word, MemoryInstruction* to) {
    const uint32_t size = bits(word, 31, 30);
    const bool ordered = bit(word, 23), load = bit(word, 22), second = bit(word, 21);
    if (!ordered && second && size < 2) { // casp
        add_operand(to, operand_at(rn(word), size == 1 ? 16 : 8, true, true), false);
        to->overwritten = bit_unless_zero(rm(word)) | bit_unless_zero((rm(word) + 1) & 31);
        to->locked = true;
        return true;
    }
    const bool is_swap = ordered && second, is_pair = !ordered && second;
    add_operand(to, operand_at(rn(word), (1u << size) * (is_pair ? 2 : 1), load || is_swap, !load || is_swap), false);
    if (is_swap || (!ordered && !load))
        to->overwritten |= bit_unless_zero(rm(word)); // what was there; whether it was stored
    if (load && !is_swap)
        to->overwritten |= bit_unless_zero(rd(word)) | (is_pair ? bit_unless_zero(bits(word, 14, 10)) : 0);
    to->locked = is_swap || !ordered;
    return true;
}

bool decode_pair(uint32_t word, MemoryInstruction* to) {
    const bool of_vector = bit(word, 26), load = bit(word, 22);
    const uint32_t opcode = bits(word, 31, 30), mode = bits(word, 24, 23);
    if (opcode == 3 || (opcode == 1 && !of_vector && !load)) // the latter: with tags
        return false;
    const uint32_t each = of_vector ? 4u << opcode : opcode == 2 ? 8u : 4u;
    const int64_t distance = signed_bits(word, 21, 15) * each;
    add_operand(to, operand_at(rn(word), 2 * each, load, !load, mode == 1 ? 0 : distance), of_vector);
    if (load && !of_vector)
        to->overwritten |= bit_unless_zero(rd(word)) | bit_unless_zero(bits(word, 14, 10));
    if (mode == 1 || mode == 3)
        write_back(to, rn(word), distance);
    return true;
}

// swp, ldadd and similar, and ldapr, which only loads.
bool decode_atomic(uint32_t word, MemoryInstruction* to) {
    const bool only_loads = bit(word, 15) && bits(word, 14, 12) == 0b100;
    if (bit(word, 26) || (bit(word, 15) && bits(word, 14, 12) != 0 && !only_loads)) // 64 bytes at once
        return false;
    add_operand(to, operand_at(rn(word), 1u << bits(word, 31, 30), true, !only_loads), false);
    to->overwritten |= bit_unless_zero(rd(word));
    to->locked = !only_loads;
    return true;
}

// One register, by all other ways of making an address.
bool decode_single(uint32_t word, MemoryInstruction* to) {
    const bool of_vector = bit(word, 26);
    const uint32_t size = bits(word, 31, 30), opcode = bits(word, 23, 22), mode = bits(word, 11, 10);
    const uint32_t scale = of_vector && (opcode & 2) ? 4 : size;
    if (of_vector && (opcode & 2) && size != 0)
        return false;
    const bool is_prefetch = !of_vector && size == 3 && opcode == 2;
    const bool load = of_vector ? (opcode & 1) != 0 : opcode != 0;
    if (!of_vector && ((size == 3 && opcode == 3) || (size == 2 && opcode == 3)))
        return false;
    MemoryOperand operand = operand_at(rn(word), 1u << scale, load, !load);
    int64_t step = 0;
    if (bit(word, 24)) {
        operand.displacement = static_cast<int64_t>(bits(word, 21, 10)) << scale;
    } else if (bit(word, 21)) {
        if (mode != 2)
            return false; // signed pointers
        const uint32_t extension = bits(word, 15, 13);
        if ((extension & 2) == 0)
            return false;
        operand.index = static_cast<int8_t>(rm(word));
        operand.scale = static_cast<uint8_t>(bit(word, 12) ? 1u << scale : 1u);
        operand.index_part = extension == 0b010   ? IndexPart::low_unsigned
                             : extension == 0b110 ? IndexPart::low_signed
                                                  : IndexPart::whole;
        if (rm(word) == kZero) {
            operand.index = kNoRegister;
            operand.scale = 0;
        }
    } else {
        const int64_t distance = signed_bits(word, 20, 12);
        operand.displacement = mode == 1 ? 0 : distance;
        step = mode == 1 || mode == 3 ? distance : 0;
    }
    if (is_prefetch)
        return true;
    add_operand(to, operand, of_vector);
    if (load && !of_vector)
        to->overwritten |= bit_unless_zero(rd(word));
    if (step != 0 || (!bit(word, 24) && !bit(word, 21) && (mode & 1)))
        write_back(to, rn(word), step);
    return true;
}

bool decode_load_or_store(uint32_t word, MemoryInstruction* to) {
    const uint32_t kind = bits(word, 29, 28);
    const bool of_vector = bit(word, 26);
    if (kind == 0b00)
        return of_vector ? !bit(word, 31) && decode_structures(word, to) : decode_exclusive(word, to);
    if (kind == 0b01 && !bit(word, 24)) { // from a constant distance
        to->overwritten = of_vector || bits(word, 31, 30) == 3 ? 0 : bit_unless_zero(rd(word));
        return true;
    }
    if (kind == 0b01 && !of_vector && !bit(word, 21) && bits(word, 11, 10) == 0) { // ldapur, stlur
        const uint32_t size = bits(word, 31, 30), opcode = bits(word, 23, 22);
        if (size == 3 && opcode >= 2)
            return false;
        add_operand(to, operand_at(rn(word), 1u << size, opcode != 0, opcode == 0, signed_bits(word, 20, 12)), false);
        to->overwritten = opcode != 0 ? bit_unless_zero(rd(word)) : 0;
        return true;
    }
    if (kind == 0b10)
        return decode_pair(word, to);
    if (kind == 0b11)
        return !bit(word, 24) && bit(word, 21) && bits(word, 11, 10) == 0 ? decode_atomic(word, to) : decode_single(word, to);
    return false;
}

// Of memory whose operand is not described, whatever it may write.
void leave_undescribed(uint32_t word, MemoryInstruction* to) {
    *to = {};
    to->gather = true;
    to->overwritten = bit_of(rd(word)) | bit_of(rn(word)) | bit_of(rm(word));
}

} // namespace

bool is_branch(uint32_t word) {
    if (bits(word, 28, 26) != 0b101)
        return false;
    return bits(word, 30, 26) == 0b00101 || bits(word, 30, 25) == 0b011010 || bits(word, 30, 25) == 0b011011 || // b, cbz, tbz
           bits(word, 31, 25) == 0b0101010 || bits(word, 31, 25) == 0b1101011 || bits(word, 31, 24) == 0b11010100;
}

bool is_instruction(uint32_t word) {
    const uint32_t group = bits(word, 28, 25);
    return word != 0 && group != 0b0001 && group != 0b0011 && (group != 0b0000 || bit(word, 31));
}

bool decode(uint32_t word, MemoryInstruction* instruction) {
    if (!is_instruction(word))
        return false;
    *instruction = {};
    const uint32_t group = bits(word, 28, 25);
    if ((group & 0b1110) == 0b1000) {
        instruction->overwritten = written_by_immediate(word);
    } else if ((group & 0b1110) == 0b1010) {
        instruction->branch = is_branch(word);
        instruction->overwritten = written_by_branch(word);
        instruction->gather = is_cache_operation(word);
    } else if ((group & 0b0111) == 0b0101) {
        instruction->overwritten = written_by_register(word);
    } else if ((group & 0b0111) == 0b0111) {
        instruction->overwritten = written_by_vector(word);
    } else if ((group & 0b0101) == 0b0100) {
        if (!decode_load_or_store(word, instruction))
            leave_undescribed(word, instruction);
    } else { // scalable vectors: the number of a destination may be that of a general register
        constexpr uint32_t kMemory = 0b100;
        leave_undescribed(word, instruction);
        instruction->gather = bits(word, 31, 29) >= kMemory;
        instruction->overwritten = bit_of(rd(word));
    }
    instruction->length = kBytes;
    return true;
}

} // namespace plumb::shim::a64
