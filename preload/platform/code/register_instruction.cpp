#include "platform/code/register_instruction.h"

#include "platform/code/zydis.h"

namespace plumb::shim {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

using Operation = RegisterInstruction::Operation;

// Of 32 or 64 bits; kNoRegister: another operand.
int whole_register(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.size == 32 || operand.size == 64)
               ? enclosing_number(operand.reg.value)
               : kNoRegister;
}

bool keeps_flags(const ZydisDecodedInstruction& decoded) {
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        return false;
    default:
        break;
    }
    constexpr ZydisAccessedFlagsMask kArithmetic = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
                                                   ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
    const ZydisAccessedFlags* flags = decoded.cpu_flags;
    return !flags || ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & kArithmetic) == 0;
}

bool mixes_operands(const ZydisDecodedInstruction& decoded) {
    switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
        return decoded.operand_count_visible == 2;
    default:
        return decoded.meta.category == ZYDIS_CATEGORY_CMOV;
    }
}

// Whether it computes an address from whole registers of 64 bits.
bool describe_address(const ZydisDecodedOperandMem& memory, MemoryOperand* to) {
    to->base = static_cast<int8_t>(dwarf_number(memory.base));
    to->index = static_cast<int8_t>(dwarf_number(memory.index));
    to->scale = to->index == kNoRegister ? 0 : memory.scale;
    to->displacement = memory.disp.has_displacement ? memory.disp.value : 0;
    return to->base != kNextInstruction && (to->base != kNoRegister || memory.base == ZYDIS_REGISTER_NONE) &&
           (to->index != kNoRegister || memory.index == ZYDIS_REGISTER_NONE);
}

// Of two operands: the first is changed or compared, the second a register or a constant.
Operation of_two(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return Operation::move;
    case ZYDIS_MNEMONIC_MOVSXD:
        return Operation::extend_sign;
    case ZYDIS_MNEMONIC_ADD:
        return Operation::add;
    case ZYDIS_MNEMONIC_SUB:
        return Operation::subtract;
    case ZYDIS_MNEMONIC_CMP:
        return Operation::compare;
    case ZYDIS_MNEMONIC_TEST:
        return Operation::test;
    case ZYDIS_MNEMONIC_XOR:
        return Operation::exclusive_or;
    case ZYDIS_MNEMONIC_SHL:
        return Operation::shift_left;
    default:
        return Operation::other;
    }
}

Operation operation_of(const ZydisInstruction& found, RegisterInstruction* to) {
    const auto& [decoded, operands] = found;
    const ZydisDecodedOperand& second = operands[1];
    const bool is_constant = second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (decoded.mnemonic == ZYDIS_MNEMONIC_INC || decoded.mnemonic == ZYDIS_MNEMONIC_DEC) {
        to->constant = 1;
        return decoded.mnemonic == ZYDIS_MNEMONIC_INC ? Operation::add : Operation::subtract;
    }
    if (decoded.mnemonic == ZYDIS_MNEMONIC_LEA)
        return describe_address(second.mem, &to->address) ? Operation::address : Operation::other;
    if (decoded.mnemonic == ZYDIS_MNEMONIC_IMUL && decoded.operand_count_visible == 3) {
        to->source = static_cast<int8_t>(whole_register(second));
        to->constant = operands[2].imm.value.s;
        return to->source == kNoRegister ? Operation::other : Operation::multiply;
    }
    if (decoded.operand_count_visible != 2)
        return Operation::other;
    to->source = static_cast<int8_t>(whole_register(second));
    if (is_constant)
        to->constant = second.imm.value.s;
    const Operation operation = to->source != kNoRegister || is_constant ? of_two(decoded.mnemonic) : Operation::other;
    const bool takes_register = operation == Operation::extend_sign || operation == Operation::test ||
                                operation == Operation::exclusive_or;
    const bool takes_constant = operation == Operation::shift_left;
    return (takes_register && is_constant) || (takes_constant && !is_constant) ? Operation::other : operation;
}

} // namespace

bool decode_register_instruction(const uint8_t* code, size_t bytes, RegisterInstruction* instruction) {
    ZydisInstruction found;
    if (!decode_with_zydis(code, bytes, &found))
        return false;
    const auto& [decoded, operands] = found;
    *instruction = {};
    instruction->keeps_flags = keeps_flags(decoded);
    const bool has_two_registers = decoded.operand_count_visible == 2 && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                                   operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    if (has_two_registers && mixes_operands(decoded))
        for (int i = 0; i < 2; ++i)
            if (const int number = enclosing_number(operands[i].reg.value); number != kNoRegister)
                instruction->mixed |= 1u << number;
    if (decoded.operand_count_visible == 0)
        return true;
    const int to = whole_register(operands[0]);
    instruction->to = static_cast<int8_t>(to);
    instruction->wide = operands[0].size == 64;
    if (to != kNoRegister && to != kNextInstruction)
        instruction->operation = operation_of(found, instruction);
    return true;
}

#else

bool decode_register_instruction(const uint8_t*, size_t, RegisterInstruction*) { return false; }

#endif

} // namespace plumb::shim
