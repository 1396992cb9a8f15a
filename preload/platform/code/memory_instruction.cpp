#include "platform/code/memory_instruction.h"

#include "platform/code/a64_instruction.h"
#include "platform/code/zydis.h"

#include <string.h>

namespace plumb::shim {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

bool is_vector_register(ZydisRegister reg) { return reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_ZMM31; }

bool is_branch(const ZydisDecodedInstruction& decoded) {
    switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return true;
    default:
        return decoded.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
    }
}

// The address depends on more than the operand says: bt and similar instructions with a register, whose bit number reaches
// beyond the operand, and xlat.
bool is_indirect(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands) {
    if (decoded.mnemonic == ZYDIS_MNEMONIC_XLAT)
        return true;
    return decoded.meta.category == ZYDIS_CATEGORY_BITBYTE && decoded.operand_count_visible == 2 &&
           operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

bool touches_no_memory(const ZydisDecodedInstruction& decoded) {
    return decoded.meta.category == ZYDIS_CATEGORY_NOP || decoded.meta.category == ZYDIS_CATEGORY_WIDENOP ||
           decoded.meta.category == ZYDIS_CATEGORY_PREFETCH;
}

// Where an implicit stack operand lies from the stack pointer as it is before the instruction.
int64_t stack_displacement(const ZydisDecodedOperand& operand, int64_t width) {
    return operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? -width : 0;
}

// False: it cannot be described, so no address may be reported.
bool describe_operand(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand, MemoryOperand* to) {
    const ZydisDecodedOperandMem& memory = operand.mem;
    to->base = static_cast<int8_t>(dwarf_number(memory.base));
    to->index = static_cast<int8_t>(dwarf_number(memory.index));
    if ((to->base == kNoRegister && memory.base != ZYDIS_REGISTER_NONE) ||
        (to->index == kNoRegister && memory.index != ZYDIS_REGISTER_NONE))
        return false; // 32-bit addressing
    to->scale = to->index == kNoRegister ? 0 : memory.scale;
    to->segment = memory.segment == ZYDIS_REGISTER_FS   ? Segment::fs
                  : memory.segment == ZYDIS_REGISTER_GS ? Segment::gs
                                                        : Segment::none;
    to->width = static_cast<uint16_t>(operand.size / 8);
    to->load = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    to->store = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    to->displacement = memory.disp.has_displacement ? memory.disp.value : 0;
    to->stack = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                (to->base == kStackPointer || decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE);
    if (to->stack && to->base == kStackPointer)
        to->displacement += stack_displacement(operand, to->width);
    else if (decoded.mnemonic == ZYDIS_MNEMONIC_POP && to->base == kStackPointer)
        to->displacement += to->width; // its address is made after the stack pointer has moved
    return true;
}

} // namespace

bool decode_memory_instruction(const uint8_t* code, size_t bytes, MemoryInstruction* instruction) {
    ZydisInstruction found;
    if (!decode_with_zydis(code, bytes, &found))
        return false;
    const auto& [decoded, operands] = found;
    *instruction = {};
    instruction->length = decoded.length;
    instruction->string = decoded.meta.category == ZYDIS_CATEGORY_STRINGOP;
    instruction->repeated = (decoded.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
    instruction->branch = is_branch(decoded);
    bool any_vector = false, any_memory = false, describable = !is_indirect(decoded, operands);
    for (uint32_t i = 0; i < decoded.operand_count; ++i) {
        const ZydisDecodedOperand& operand = operands[i];
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            any_vector |= is_vector_register(operand.reg.value);
            const int number = enclosing_number(operand.reg.value);
            if (number != kNoRegister && number != kNextInstruction &&
                (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
                instruction->overwritten |= 1u << number;
        }
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || touches_no_memory(decoded))
            continue;
        if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            instruction->gather = true;
        if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM)
            continue;
        any_memory = true;
        if (instruction->operand_count < 3 &&
            describe_operand(decoded, operand, &instruction->operands[instruction->operand_count]))
            ++instruction->operand_count;
        else
            describable = false;
    }
    if (!describable || instruction->gather)
        instruction->operand_count = 0;
    for (uint32_t i = 0; i < instruction->operand_count; ++i)
        instruction->vector |= any_vector && instruction->operands[i].width >= 16;
    instruction->locked = any_memory && ((decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
                                         decoded.mnemonic == ZYDIS_MNEMONIC_XCHG);
    return true;
}

#elif defined(__aarch64__)

bool decode_memory_instruction(const uint8_t* code, size_t bytes, MemoryInstruction* instruction) {
    uint32_t word;
    if (bytes < sizeof word)
        return false;
    memcpy(&word, code, sizeof word);
    return a64::decode(word, instruction);
}

#else

bool decode_memory_instruction(const uint8_t*, size_t, MemoryInstruction*) { return false; }

#endif

} // namespace plumb::shim
