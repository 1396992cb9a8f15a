#include "record/access/code/register_step.h"

#include "platform/code/zydis.h" // of the shim
#include "record/access/code/a64_code.h"

#include <optional>

namespace plumb::record {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

constexpr int64_t kMostShift = 30; // what a factor holds

using Value = std::optional<LinearValue>;

// Of 32 or 64 bits; kNoRegister: another operand.
int8_t whole_register(const ZydisDecodedOperand& operand) {
    const bool whole = operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.size == 32 || operand.size == 64);
    return static_cast<int8_t>(whole ? shim::enclosing_number(operand.reg.value) : shim::kNoRegister);
}

bool keeps_flags(const ZydisDecodedInstruction& decoded) {
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL: // the callee may change them
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

uint32_t mixed_registers(const shim::ZydisInstruction& found) {
    const auto& [decoded, operands] = found;
    if (decoded.operand_count_visible != 2 || operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER || !mixes_operands(decoded))
        return 0;
    uint32_t mixed = 0;
    for (int i = 0; i < 2; ++i)
        if (const int number = shim::enclosing_number(operands[i].reg.value); number != shim::kNoRegister)
            mixed |= 1u << number;
    return mixed;
}

// A register or a constant.
Value value_of(const ZydisDecodedOperand& operand) {
    const LinearValue value{.first = whole_register(operand)};
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return LinearValue{.constant = operand.imm.value.s};
    return value.first != shim::kNoRegister ? Value(value) : std::nullopt;
}

// Of whole registers of 64 bits.
Value address_of(const ZydisDecodedOperandMem& memory) {
    LinearValue value{.first = static_cast<int8_t>(shim::dwarf_number(memory.base)),
                      .second = static_cast<int8_t>(shim::dwarf_number(memory.index))};
    if (value.first == shim::kNextInstruction || (value.first == shim::kNoRegister && memory.base != ZYDIS_REGISTER_NONE) ||
        (value.second == shim::kNoRegister && memory.index != ZYDIS_REGISTER_NONE))
        return std::nullopt;
    value.second_factor = value.second == shim::kNoRegister ? 1 : memory.scale;
    value.constant = memory.disp.has_displacement ? memory.disp.value : 0;
    return value;
}

// to + sign * what `value_of` made
LinearValue sum_of(int8_t to, int sign, const LinearValue& operand) {
    const bool of_register = operand.first != shim::kNoRegister;
    return {.first = to, .second = operand.first, .second_factor = of_register ? sign : 1, .constant = sign * operand.constant};
}

LinearValue multiple_of(int8_t number, int64_t factor) {
    return {.first = number, .first_factor = static_cast<int32_t>(factor)};
}

struct Effect { // nothing: it is not known, or there is none
    Value given;    // to the register
    Value compared; // with zero, by a conditional jump behind it
};

// Of an instruction whose first operand is the register `to`.
Effect effect_of(const shim::ZydisInstruction& found, int8_t to) {
    const auto& [decoded, operands] = found;
    const int count = decoded.operand_count_visible;
    const auto both = [](const LinearValue& value) { return Effect{value, value}; };
    if (decoded.mnemonic == ZYDIS_MNEMONIC_LEA)
        return {address_of(operands[1].mem), {}};
    if (decoded.mnemonic == ZYDIS_MNEMONIC_INC || decoded.mnemonic == ZYDIS_MNEMONIC_DEC)
        return both(sum_of(to, decoded.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1, {.constant = 1}));
    const Value second = count >= 2 ? value_of(operands[1]) : std::nullopt;
    if (!second)
        return {};
    const bool is_of_itself = second->first == to, is_constant = second->first == shim::kNoRegister;
    switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
        return {second, {}};
    case ZYDIS_MNEMONIC_ADD:
        return both(sum_of(to, 1, *second));
    case ZYDIS_MNEMONIC_SUB:
        return is_of_itself ? Effect{LinearValue{}, {}} : both(sum_of(to, -1, *second));
    case ZYDIS_MNEMONIC_CMP:
        return {{}, sum_of(to, -1, *second)};
    case ZYDIS_MNEMONIC_TEST:
        return {{}, is_of_itself ? second : std::nullopt};
    case ZYDIS_MNEMONIC_XOR:
        return {is_of_itself ? Value(LinearValue{}) : std::nullopt, {}};
    case ZYDIS_MNEMONIC_IMUL:
        return {count == 3 && !is_constant ? Value(multiple_of(second->first, operands[2].imm.value.s)) : std::nullopt, {}};
    case ZYDIS_MNEMONIC_SHL:
        return {is_constant && second->constant >= 0 && second->constant <= kMostShift
                    ? Value(multiple_of(to, int64_t{1} << second->constant)) : std::nullopt, {}};
    default:
        return {};
    }
}

} // namespace

RegisterStep register_step(std::span<const uint8_t> bytes) {
    shim::ZydisInstruction found;
    RegisterStep step;
    if (!shim::decode_with_zydis(bytes.data(), bytes.size(), &found))
        return step;
    const auto& [decoded, operands] = found;
    step.mixed = mixed_registers(found);
    step.flags = keeps_flags(decoded) ? RegisterStep::Flags::kept : RegisterStep::Flags::unknown;
    const int8_t to = decoded.operand_count_visible == 0 ? int8_t{shim::kNoRegister} : whole_register(operands[0]);
    if (to == shim::kNoRegister || to == shim::kNextInstruction)
        return step;
    const Effect effect = effect_of(found, to);
    const bool narrow = operands[0].size != 64;
    if (effect.given) {
        step.changed = to;
        step.sign_extended = decoded.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
        step.value = *effect.given;
        step.value.narrow = narrow || step.sign_extended;
    }
    if (effect.compared) {
        step.flags = RegisterStep::Flags::set;
        step.compared = *effect.compared;
        step.compared.narrow = narrow;
    }
    return step;
}

#else

RegisterStep register_step(std::span<const uint8_t> bytes) {
    return shim::kDecodesA64 ? a64::register_step(a64::word_of(bytes)) : RegisterStep{};
}

#endif

} // namespace plumb::record
