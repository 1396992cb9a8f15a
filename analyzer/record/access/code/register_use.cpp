#include "record/access/code/register_use.h"

#include "platform/code/zydis.h" // of the shim
#include "record/access/code/a64_code.h"

namespace plumb::record {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

bool has_other_state(const ZydisDecodedInstruction& decoded) {
    switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDPMC:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_CPUID:
        return true;
    default:
        return decoded.meta.category == ZYDIS_CATEGORY_IO || decoded.meta.category == ZYDIS_CATEGORY_STRINGOP;
    }
}

uint32_t bit_of(ZydisRegister reg) {
    const int number = reg == ZYDIS_REGISTER_NONE ? shim::kNoRegister : shim::enclosing_number(reg);
    return number == shim::kNoRegister || number == shim::kNextInstruction ? 0 : 1u << number;
}

// Without the library's functions: it is loaded privately, and these are ranges of its enumeration.
bool is_plain(ZydisRegister reg) {
    return (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_R15) ||
           (reg >= ZYDIS_REGISTER_FLAGS && reg <= ZYDIS_REGISTER_RIP);
}

bool is_vector(const ZydisDecodedOperand& operand) {
    return operand.reg.value >= ZYDIS_REGISTER_XMM0 && operand.reg.value <= ZYDIS_REGISTER_ZMM31;
}

bool is_lowest_byte(const ZydisDecodedOperand& operand) {
    const ZydisRegister reg = operand.reg.value;
    return operand.size == 8 && (reg < ZYDIS_REGISTER_AH || reg > ZYDIS_REGISTER_BH);
}

void take_register(const ZydisDecodedOperand& operand, RegisterUse* use) {
    if (!is_plain(operand.reg.value)) {
        const bool fills = is_vector(operand) && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0;
        (fills ? use->fills_vector : use->other_state) = true;
        return;
    }
    const uint32_t bit = bit_of(operand.reg.value);
    if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        use->taken |= bit, use->taken_wide |= is_lowest_byte(operand) ? 0 : bit;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
        return;
    const bool sure = (operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
    (sure && operand.size >= 32 ? use->given : use->kept) |= bit; // 32 bits clear the upper half
    if (sure && is_lowest_byte(operand))
        use->given_low |= bit;
}

} // namespace

bool decode_register_use(std::span<const uint8_t> code, RegisterUse* use) {
    shim::ZydisInstruction found;
    if (!shim::decode_with_zydis(code.data(), code.size(), &found))
        return false;
    const auto& [decoded, operands] = found;
    *use = {};
    use->pause = decoded.mnemonic == ZYDIS_MNEMONIC_PAUSE;
    use->other_state = has_other_state(decoded);
    bool memory = false;
    for (int i = 0; i < decoded.operand_count; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
            take_register(operand, use);
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            memory |= operand.mem.type == ZYDIS_MEMOP_TYPE_MEM;
            use->taken |= bit_of(operand.mem.base) | bit_of(operand.mem.index);
            use->taken_wide |= bit_of(operand.mem.base) | bit_of(operand.mem.index);
        }
    }
    use->swaps = memory && decoded.mnemonic == ZYDIS_MNEMONIC_XCHG;
    use->compares_and_swaps = memory && decoded.mnemonic == ZYDIS_MNEMONIC_CMPXCHG;
    use->sets_bit = memory && decoded.mnemonic == ZYDIS_MNEMONIC_BTS;
    if (use->compares_and_swaps) // it either leaves rax, which is then equal to memory, or loads it
        use->given |= 1u, use->kept &= ~1u;
    const bool clears = (decoded.mnemonic == ZYDIS_MNEMONIC_XOR || decoded.mnemonic == ZYDIS_MNEMONIC_SUB) &&
                        operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size >= 32 &&
                        operands[0].reg.value == operands[1].reg.value;
    if (clears)
        use->taken = use->taken_wide = 0;
    return true;
}

#else

bool decode_register_use(std::span<const uint8_t> code, RegisterUse* use) {
    return shim::kDecodesA64 && a64::decode_register_use(a64::word_of(code), use);
}

#endif

} // namespace plumb::record
