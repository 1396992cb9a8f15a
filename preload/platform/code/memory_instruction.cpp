#include "platform/code/memory_instruction.h"

#if defined(__x86_64__) && __has_include(<Zydis/Zydis.h>)
#define PLUMB_HAS_ZYDIS 1
#include <Zydis/Zydis.h>
#include <dlfcn.h>
#endif

namespace plumb::shim {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

// The library's structures change between minor versions, so only the one this was built for will do.
constexpr uint64_t kVersionMask = ~uint64_t{0} << 32;
constexpr const char* kLibraries[] = {"libZydis.so.4.0", "libZydis.so"};

ZydisDecoder decoder, length_decoder;
decltype(&ZydisDecoderDecodeFull) decode_full = nullptr;
decltype(&ZydisDecoderDecodeInstruction) decode_length = nullptr;

// Zydis numbers the registers as instructions encode them; kNoRegister for what is not a whole 64-bit register.
int dwarf_number(ZydisRegister reg) {
    static constexpr int8_t from_encoding[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
        return from_encoding[reg - ZYDIS_REGISTER_RAX];
    return reg == ZYDIS_REGISTER_RIP ? kNextInstruction : kNoRegister;
}

// Of any part of it; kNoRegister: not a general register.
int enclosing_number(ZydisRegister reg) {
    const auto nth = [](int encoding) { return dwarf_number(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + encoding)); };
    if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
        return nth(reg - ZYDIS_REGISTER_EAX);
    if (reg >= ZYDIS_REGISTER_AX && reg <= ZYDIS_REGISTER_R15W)
        return nth(reg - ZYDIS_REGISTER_AX);
    if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL)
        return nth(reg - ZYDIS_REGISTER_AL);
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return nth(reg - ZYDIS_REGISTER_AH);
    if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
        return nth(4 + reg - ZYDIS_REGISTER_SPL);
    return dwarf_number(reg);
}

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

bool load_decoder(const char** why) {
    const char* ignored;
    const char*& reason = why ? *why : ignored;
    reason = nullptr;
    if (has_decoder())
        return true;
    void* library = nullptr;
    for (const char* name : kLibraries)
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        reason = "the instruction decoder, libZydis.so.4.0, cannot be loaded";
        return false;
    }
    const auto version = reinterpret_cast<decltype(&ZydisGetVersion)>(dlsym(library, "ZydisGetVersion"));
    const auto init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
    const auto full = reinterpret_cast<decltype(&ZydisDecoderDecodeFull)>(dlsym(library, "ZydisDecoderDecodeFull"));
    const auto alone = reinterpret_cast<decltype(&ZydisDecoderDecodeInstruction)>(dlsym(library, "ZydisDecoderDecodeInstruction"));
    const auto mode = reinterpret_cast<decltype(&ZydisDecoderEnableMode)>(dlsym(library, "ZydisDecoderEnableMode"));
    if (!version || !init || !full || !alone || !mode || (version() & kVersionMask) != (ZYDIS_VERSION & kVersionMask)) {
        reason = "the instruction decoder, libZydis, has another version than the one this was built for (4.0)";
        return false;
    }
    if (!ZYAN_SUCCESS(init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
        reason = "the instruction decoder, libZydis, does not decode 64-bit code";
        return false;
    }
    length_decoder = decoder;
    mode(&length_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE); // as fast as this build of the library can
    __atomic_store_n(&decode_length, alone, __ATOMIC_RELEASE);
    __atomic_store_n(&decode_full, full, __ATOMIC_RELEASE);
    return true;
}

bool has_decoder() { return __atomic_load_n(&decode_full, __ATOMIC_ACQUIRE) != nullptr; }

bool decode_memory_instruction(const uint8_t* code, size_t bytes, MemoryInstruction* instruction) {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const auto decode = __atomic_load_n(&decode_full, __ATOMIC_ACQUIRE);
    if (!decode || !ZYAN_SUCCESS(decode(&decoder, code, bytes, &decoded, operands)))
        return false;
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

unsigned instruction_length(const uint8_t* code, size_t bytes) {
    ZydisDecodedInstruction decoded;
    const auto decode = __atomic_load_n(&decode_length, __ATOMIC_ACQUIRE);
    return decode && ZYAN_SUCCESS(decode(&length_decoder, nullptr, code, bytes, &decoded)) ? decoded.length : 0;
}

#else

bool load_decoder(const char** why) {
    if (why)
        *why = "this build has no instruction decoder (libZydis, x86-64 only)";
    return false;
}
bool has_decoder() { return false; }
bool decode_memory_instruction(const uint8_t*, size_t, MemoryInstruction*) { return false; }
unsigned instruction_length(const uint8_t*, size_t) { return 0; }

#endif

} // namespace plumb::shim
