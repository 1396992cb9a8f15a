#include "code/instruction.h"

#include "platform/code/zydis.h"

#include <algorithm>
#include <string_view>

namespace plumb::code {

namespace {

template <typename Test> bool any_operand(const shim::MemoryInstruction& memory, Test test) {
    return std::any_of(memory.operands, memory.operands + memory.operand_count, test);
}

} // namespace

bool Instruction::loads() const {
    return any_operand(memory, [](const shim::MemoryOperand& operand) { return operand.load && !operand.stack; });
}

bool Instruction::stores() const {
    return any_operand(memory, [](const shim::MemoryOperand& operand) { return operand.store && !operand.stack; });
}

#if defined(PLUMB_HAS_ZYDIS)
namespace {

struct VectorRegister {
    int number = -1; // -1: it is none
    unsigned bytes = 0;
};

VectorRegister vector_register(ZydisRegister reg) {
    if (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM31)
        return {reg - ZYDIS_REGISTER_XMM0, 16};
    if (reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM31)
        return {reg - ZYDIS_REGISTER_YMM0, 32};
    if (reg >= ZYDIS_REGISTER_ZMM0 && reg <= ZYDIS_REGISTER_ZMM31)
        return {reg - ZYDIS_REGISTER_ZMM0, 64};
    return {};
}

RegisterSet bit_of(ZydisRegister reg) {
    if (const VectorRegister found = vector_register(reg); found.number >= 0)
        return RegisterSet{1} << (kFirstVector + found.number);
    if (reg >= ZYDIS_REGISTER_ST0 && reg <= ZYDIS_REGISTER_ST7)
        return RegisterSet{1} << kX87;
    const int number = shim::enclosing_number(reg);
    return number >= 0 && number < kGeneralRegisters ? RegisterSet{1} << number : 0;
}

// The processor knows that the result is zero whatever was there before.
bool clears(std::string_view name, const shim::ZydisInstruction& found) {
    const auto& [decoded, operands] = found;
    const int count = decoded.operand_count_visible;
    if (count < 2 || operands[count - 1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        operands[count - 2].type != ZYDIS_OPERAND_TYPE_REGISTER || operands[count - 1].reg.value != operands[count - 2].reg.value)
        return false;
    if (name.starts_with('v'))
        name.remove_prefix(1);
    return name == "xor" || name == "sub" || name.starts_with("xorp") || name.starts_with("pxor") || name.starts_with("psub");
}

// The upper part of the register stays what it was: what is made of it later depends on what it held.
bool keeps_part(std::string_view name) {
    return name.starts_with("movlp") || name.starts_with("movhp") || name.starts_with("pinsr");
}

void set_flow(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands, Instruction& made) {
    const bool is_known = decoded.operand_count_visible > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (is_known && operands[0].imm.is_relative)
        made.target = made.end() + static_cast<uint64_t>(operands[0].imm.value.s);
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        made.flow = Flow::call;
        break;
    case ZYDIS_CATEGORY_COND_BR:
        made.flow = Flow::branch;
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        made.flow = Flow::jump;
        break;
    case ZYDIS_CATEGORY_RET:
        made.flow = Flow::end;
        break;
    default:
        if (decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || decoded.mnemonic == ZYDIS_MNEMONIC_HLT ||
            decoded.mnemonic == ZYDIS_MNEMONIC_INT3)
            made.flow = Flow::end;
        break;
    }
}

void set_registers(std::string_view name, const shim::ZydisInstruction& found, Instruction& made) {
    const auto& [decoded, operands] = found;
    for (int i = 0; i < decoded.operand_count; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            made.reads |= bit_of(operand.mem.base) | bit_of(operand.mem.index);
            continue;
        }
        if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        const RegisterSet bit = bit_of(operand.reg.value);
        const bool writes = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        const bool keeps = operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE || (writes && keeps_part(name));
        if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ || keeps)
            made.reads |= bit;
        if (writes)
            made.writes |= bit;
        made.vector_bytes = std::max(made.vector_bytes, vector_register(operand.reg.value).bytes);
    }
    if (clears(name, found))
        made.reads &= ~made.writes;
}

void set_addends(std::string_view name, const shim::ZydisInstruction& found, Instruction& made) {
    const auto& [decoded, operands] = found;
    using Kind = Operation::Kind;
    if (made.operation.kind == Kind::add) {
        made.addends = made.reads & kVectorRegisters;
        // Of a - b with b the running value, the sign turns each time: no sum.
        if (name.find("sub") != name.npos && decoded.operand_count_visible > 0) {
            const ZydisDecodedOperand& last = operands[decoded.operand_count_visible - 1];
            if (last.type == ZYDIS_OPERAND_TYPE_REGISTER)
                made.addends &= ~bit_of(last.reg.value);
        }
    } else if (made.operation.kind == Kind::fused && decoded.operand_count_visible >= 3) {
        const int addend = addend_of_fused(name);
        for (int i = 0; i < 3; ++i)
            if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && i == addend)
                made.addends |= bit_of(operands[i].reg.value);
        for (int i = 0; i < 3; ++i)
            if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && i != addend)
                made.addends &= ~bit_of(operands[i].reg.value);
    }
}

} // namespace

std::optional<Instruction> decode_instruction(uint64_t address, std::span<const uint8_t> code) {
    shim::ZydisInstruction found;
    Instruction made;
    made.address = address;
    if (!shim::decode_with_zydis(code.data(), code.size(), &found) ||
        !shim::decode_memory_instruction(code.data(), code.size(), &made.memory) || made.memory.length == 0)
        return std::nullopt;
    const auto& [decoded, operands] = found;
    const std::string_view name = shim::mnemonic_name(decoded.mnemonic);
    made.step = record::register_step(code.first(made.memory.length));
    set_flow(decoded, operands, made);
    set_registers(name, found, made);
    made.operation = operation_named(name, made.vector_bytes);
    set_addends(name, found, made);
    for (int i = 0; i < decoded.operand_count_visible; ++i) {
        const bool is_integer = operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY || shim::enclosing_number(operands[i].reg.value) >= 0;
        made.converts_wide_integer |= made.operation.kind == Operation::Kind::convert_integer && made.operation.lanes == 1 &&
                                      is_integer && operands[i].size == 64 && decoded.operand_width == 64;
    }
    return made;
}

#else

std::optional<Instruction> decode_instruction(uint64_t, std::span<const uint8_t>) { return std::nullopt; }

#endif

} // namespace plumb::code
