#include "record/access/code/a64_code.h"

#include "platform/code/a64_instruction.h" // of the shim

#include <cstring>

namespace plumb::record::a64 {

namespace {

using shim::a64::bit;
using shim::a64::bits;
using shim::a64::signed_bits;

constexpr uint32_t kZero = 31; // as a general register, where it is not sp
constexpr uint32_t kMostShift = 30; // what a factor holds

uint32_t rd(uint32_t word) { return bits(word, 4, 0); }
uint32_t rn(uint32_t word) { return bits(word, 9, 5); }
uint32_t rm(uint32_t word) { return bits(word, 20, 16); }
int8_t number_of(uint32_t field) { return static_cast<int8_t>(field == kZero ? shim::kNoRegister : static_cast<int>(field)); }
uint32_t bit_of(uint32_t field) { return field == kZero ? 0 : 1u << field; }
uint64_t plus(uint64_t address, int64_t distance) { return address + static_cast<uint64_t>(distance); }

bool is_immediate_add(uint32_t word) { return bits(word, 28, 23) == 0b100010; }
bool is_register_add(uint32_t word) { return bits(word, 28, 24) == 0b01011; } // shifted or extended
bool is_logical(uint32_t word) { return bits(word, 28, 24) == 0b01010; }      // of registers
bool is_logical_immediate(uint32_t word) { return bits(word, 28, 23) == 0b100100; }
bool is_compare_and_branch(uint32_t word) { return bits(word, 30, 25) == 0b011010; }
bool is_test_and_branch(uint32_t word) { return bits(word, 30, 25) == 0b011011; }
bool is_conditional_branch(uint32_t word) { return bits(word, 31, 25) == 0b0101010; }

// The second operand of an addition: a constant, or a register times a factor. False: another.
bool take_addend(uint32_t word, LinearValue* value) {
    const int sign = bit(word, 30) ? -1 : 1;
    if (is_immediate_add(word)) {
        value->constant = sign * (static_cast<int64_t>(bits(word, 21, 10)) << (bit(word, 22) ? 12 : 0));
        return true;
    }
    const bool is_extended = bit(word, 21), is_whole = bits(word, 15, 13) == 0b011;
    const uint32_t shift = is_extended ? bits(word, 12, 10) : bits(word, 15, 10);
    if (is_extended ? !is_whole : bits(word, 23, 22) != 0)
        return false;
    if (shift > kMostShift)
        return false;
    value->second = number_of(rm(word));
    value->second_factor = value->second == shim::kNoRegister ? 1 : sign * (1 << shift);
    return true;
}

RegisterStep addition(uint32_t word) {
    RegisterStep step;
    const bool sets_flags = bit(word, 29), has_stack = is_immediate_add(word) || bit(word, 21);
    step.flags = sets_flags ? RegisterStep::Flags::unknown : RegisterStep::Flags::kept;
    LinearValue value;
    value.first = has_stack ? static_cast<int8_t>(rn(word)) : number_of(rn(word));
    value.narrow = !bit(word, 31);
    if (!is_immediate_add(word))
        step.mixed = bit_of(rn(word)) | bit_of(rm(word));
    if (!take_addend(word, &value))
        return step;
    if (sets_flags) {
        step.flags = RegisterStep::Flags::set;
        step.compared = value;
    }
    step.changed = has_stack && !sets_flags ? static_cast<int8_t>(rd(word)) : number_of(rd(word));
    step.value = value;
    return step;
}

RegisterStep logical(uint32_t word) {
    RegisterStep step;
    const bool sets_flags = bits(word, 30, 29) == 0b11, inverts = bit(word, 21);
    const bool is_shifted = bits(word, 15, 10) != 0 || bits(word, 23, 22) != 0;
    step.flags = sets_flags ? RegisterStep::Flags::unknown : RegisterStep::Flags::kept;
    step.mixed = bit_of(rn(word)) | bit_of(rm(word));
    LinearValue value;
    value.first = number_of(rm(word));
    value.narrow = !bit(word, 31);
    const bool is_move = bits(word, 30, 29) == 0b01 && rn(word) == kZero && !inverts && !is_shifted; // orr with zero
    const bool is_test = sets_flags && rn(word) == rm(word) && !inverts && !is_shifted;
    if (is_move) {
        step.changed = number_of(rd(word));
        step.value = value;
    } else if (is_test) {
        step.flags = RegisterStep::Flags::set;
        step.compared = value;
    }
    return step;
}

// movz, movn.
RegisterStep move_constant(uint32_t word) {
    RegisterStep step;
    step.flags = RegisterStep::Flags::kept;
    const uint64_t constant = uint64_t{bits(word, 20, 5)} << (16 * bits(word, 22, 21));
    if (bits(word, 30, 29) == 0b11) // movk: a part of the register
        return step;
    step.changed = number_of(rd(word));
    step.value.constant = static_cast<int64_t>(bits(word, 30, 29) == 0 ? ~constant : constant);
    step.value.narrow = !bit(word, 31);
    return step;
}

// lsl and sxtw are forms of ubfm and sbfm.
RegisterStep bit_field(uint32_t word) {
    RegisterStep step;
    step.flags = RegisterStep::Flags::kept;
    step.mixed = bit_of(rn(word));
    const uint32_t width = bit(word, 31) ? 64 : 32, rotation = bits(word, 21, 16), last = bits(word, 15, 10);
    LinearValue value;
    value.first = number_of(rn(word));
    const bool is_unsigned = bits(word, 30, 29) == 0b10, is_signed = bits(word, 30, 29) == 0b00;
    const uint32_t shift = width - 1 - last;
    if (is_unsigned && last != width - 1 && last + 1 == rotation && shift <= kMostShift) {
        value.first_factor = 1 << shift;
        value.narrow = width == 32;
    } else if (is_signed && width == 64 && rotation == 0 && last == 31) {
        value.narrow = step.sign_extended = true;
    } else {
        return step;
    }
    step.changed = number_of(rd(word));
    step.value = value;
    return step;
}

} // namespace

uint32_t word_of(std::span<const uint8_t> code) {
    uint32_t word = 0;
    if (code.size() >= sizeof word)
        std::memcpy(&word, code.data(), sizeof word);
    return word;
}

Jump jump_at(uint64_t address, uint32_t word) {
    if (bits(word, 31, 26) == 0b000101)
        return {plus(address, signed_bits(word, 25, 0) * 4), false};
    if (is_conditional_branch(word))
        return {plus(address, signed_bits(word, 23, 5) * 4), bits(word, 3, 1) != 0b111}; // 111x: always
    if (is_compare_and_branch(word))
        return {plus(address, signed_bits(word, 23, 5) * 4), true};
    if (is_test_and_branch(word))
        return {plus(address, signed_bits(word, 18, 5) * 4), true};
    return {};
}

bool is_call(uint32_t word) {
    return bits(word, 31, 26) == 0b100101 || (bits(word, 31, 25) == 0b1101011 && bits(word, 22, 21) == 0b01);
}

int register_looked_at(uint32_t word) {
    return is_compare_and_branch(word) || is_test_and_branch(word) ? number_of(rd(word)) : shim::kNoRegister;
}

bool keeps_flags(uint32_t word) {
    const uint32_t group = bits(word, 28, 25);
    if (is_call(word) || group == 0b0010) // a callee, or a scalable vector instruction
        return false;
    if (is_immediate_add(word) || is_register_add(word))
        return !bit(word, 29);
    if (is_logical(word) || is_logical_immediate(word))
        return bits(word, 30, 29) != 0b11;
    if (bits(word, 28, 25) == 0b1101 && !bit(word, 24)) // with carry, conditional compares, conditional selects
        return bits(word, 23, 21) == 0b100 || (bits(word, 23, 21) == 0b110);
    if (bits(word, 30, 24) == 0b0011110 && bit(word, 21)) // fcmp, fccmp
        return !(bits(word, 15, 10) == 0b001000 || bits(word, 11, 10) == 0b01);
    return bits(word, 31, 20) != 0b1101'0101'0001; // msr
}

RegisterStep register_step(uint32_t word) {
    if (is_immediate_add(word) || is_register_add(word))
        return addition(word);
    if (is_logical(word))
        return logical(word);
    if (bits(word, 28, 23) == 0b100101)
        return move_constant(word);
    if (bits(word, 28, 23) == 0b100110)
        return bit_field(word);
    RegisterStep step;
    step.flags = keeps_flags(word) ? RegisterStep::Flags::kept : RegisterStep::Flags::unknown;
    if (is_compare_and_branch(word)) {
        step.flags = RegisterStep::Flags::set;
        step.compared = {.first = number_of(rd(word)), .narrow = !bit(word, 31)};
    }
    shim::MemoryInstruction memory;
    if (!shim::a64::decode(word, &memory))
        return {};
    if (memory.operand_count == 1 && shim::stepped_base(memory.operands[0]) != 0) {
        step.changed = memory.operands[0].base;
        step.value = {.first = step.changed, .constant = memory.operands[0].base_step};
    }
    return step;
}

bool decode_register_use(uint32_t word, RegisterUse* use) {
    shim::MemoryInstruction memory;
    if (!shim::a64::decode(word, &memory))
        return false;
    *use = {};
    const uint32_t group = bits(word, 28, 25);
    use->given = memory.overwritten;
    if ((group & 0b1110) == 0b1000) { // with a constant
        const bool is_move = bits(word, 28, 23) == 0b100101, is_address = bits(word, 28, 24) == 0b10000;
        const bool is_insertion = bits(word, 28, 23) == 0b100110 && bits(word, 30, 29) == 0b01;
        const bool is_partial = is_insertion || (is_move && bits(word, 30, 29) == 0b11);
        const bool may_be_stack = is_immediate_add(word);
        use->taken = is_move || is_address ? 0 : may_be_stack ? 1u << rn(word) : bit_of(rn(word));
        if (bits(word, 28, 23) == 0b100111)
            use->taken |= bit_of(rm(word));
        if (is_partial)
            use->kept = use->given, use->given = 0;
    } else if ((group & 0b0111) == 0b0101) { // of registers
        const bool has_third = bits(word, 28, 24) == 0b11011, is_conditional = bits(word, 28, 21) == 0b11010010;
        const bool has_constant = is_conditional && bit(word, 11);
        const bool is_one = bits(word, 30, 21) == 0b1011010110;
        use->taken = bit_of(rn(word)) | (has_constant || is_one ? 0 : bit_of(rm(word)));
        if (has_third)
            use->taken |= bit_of(bits(word, 14, 10));
        if (is_register_add(word) && bit(word, 21))
            use->taken |= 1u << rn(word);
    } else if ((group & 0b0101) == 0b0100) {
        const bool of_vector = bit(word, 26), has_operand = memory.operand_count == 1;
        if (memory.gather)
            use->other_state = true;
        if (has_operand) {
            const shim::MemoryOperand& operand = memory.operands[0];
            use->taken = 1u << operand.base | (operand.index == shim::kNoRegister ? 0 : 1u << operand.index);
            if (operand.store && !of_vector) // what is stored, added or expected, among it
                use->taken |= bit_of(rd(word)) | (bits(word, 29, 28) == 0b10 ? bit_of(bits(word, 14, 10)) : 0) |
                              (bits(word, 29, 28) != 0b10 && (memory.locked || bits(word, 29, 28) == 0) ? bit_of(rm(word)) : 0);
            use->fills_vector = of_vector && operand.load;
            use->other_state |= of_vector && operand.store;
            const uint32_t opcode = bits(word, 14, 12);
            const bool is_atomic = bits(word, 29, 24) == 0b111000 && memory.locked;
            use->swaps = is_atomic && bit(word, 15);
            use->sets_bit = is_atomic && !bit(word, 15) && opcode == 0b011; // ldset
            use->compares_and_swaps = bits(word, 29, 24) == 0b001000 && memory.locked && operand.load && operand.store;
            // Exclusive pairs, and arithmetic in memory: what they leave there is not described here.
            use->other_state |= memory.locked && !use->swaps && !use->sets_bit && !use->compares_and_swaps;
        }
    } else if ((group & 0b1110) == 0b1010) {
        const int looked_at = register_looked_at(word);
        use->taken = looked_at == shim::kNoRegister ? 0 : 1u << looked_at;
        if (bits(word, 31, 25) == 0b1101011)
            use->taken = bit_of(rn(word));
        constexpr uint32_t kYield = 0xd503203f, kWaitForEvent = 0xd503205f, kBarrier = 0xd5033fdf; // isb: a longer yield
        use->pause = word == kYield || word == kWaitForEvent || word == kBarrier;
        if (bits(word, 31, 12) == 0b1101'0101'0000'0011'0010) // a hint
            use->given = 0, use->other_state = !use->pause && bits(word, 11, 5) > 5 && bits(word, 11, 5) != 0b100000 + 2;
        else
            use->other_state = bits(word, 31, 22) == 0b1101'0101'00 && bit(word, 21); // mrs: clocks and counters among it
    } else {
        use->other_state = true; // vectors
    }
    use->taken_wide = use->taken;
    return true;
}

} // namespace plumb::record::a64
