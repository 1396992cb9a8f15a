#include "symbols/data/code.h"

#include "platform/code/a64_instruction.h"
#include "platform/code/memory_instruction.h" // of the shim: one decoder for both sides

#include <array>
#include <cstring>
#include <elf.h>

namespace plumb::symbols {

namespace {

constexpr int kFramePointer = 6, kStackPointer = 7; // of x86-64
constexpr size_t kRegisters = 16;

bool has_decoder() {
    static const bool loaded = shim::load_decoder(nullptr);
    return loaded;
}

// By the decoder for the code's machine, which need not be this one.
bool decode(std::span<const uint8_t> code, int machine, shim::MemoryInstruction* instruction) {
    if (machine == EM_AARCH64) {
        uint32_t word = 0;
        if (code.size() < sizeof word)
            return false;
        std::memcpy(&word, code.data(), sizeof word);
        return shim::a64::decode(word, instruction);
    }
    return machine == EM_X86_64 && !shim::kDecodesA64 && has_decoder() &&
           shim::decode_memory_instruction(code.data(), code.size(), instruction);
}

constexpr uint8_t kLea = 0x8d;

// Registers by the numbers of the instruction encoding, as DWARF numbers.
constexpr int kFromEncoding[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

// The few 64-bit instructions that carry a pointer from one register to another: mov, add, sub, lea.
struct Carry {
    enum class Kind { none, copy, add } kind = Kind::none;
    int from = -1, to = -1;
};

Carry carry_of(const uint8_t* code, size_t bytes) {
    if (bytes < 3 || (code[0] & 0xf8) != 0x48) // REX.W
        return {};
    const uint8_t rex = code[0], opcode = code[1], modrm = code[2];
    const int reg = kFromEncoding[(modrm >> 3 & 7) | (rex & 4 ? 8 : 0)];
    const int rm = kFromEncoding[(modrm & 7) | (rex & 1 ? 8 : 0)];
    const bool registers_only = modrm >= 0xc0;
    switch (opcode) {
    case 0x89: // mov reg -> rm
        return registers_only ? Carry{Carry::Kind::copy, reg, rm} : Carry{};
    case 0x8b:
        return registers_only ? Carry{Carry::Kind::copy, rm, reg} : Carry{};
    case 0x01: // add reg -> rm
        return registers_only ? Carry{Carry::Kind::add, reg, rm} : Carry{};
    case 0x03:
        return registers_only ? Carry{Carry::Kind::add, rm, reg} : Carry{};
    case 0x05: // add imm, %rax
    case 0x2d:
        return {Carry::Kind::add, 0, 0};
    case 0x81: // add, sub imm
    case 0x83:
        if (registers_only && ((modrm >> 3 & 7) == 0 || (modrm >> 3 & 7) == 5))
            return {Carry::Kind::add, rm, rm};
        return {};
    case kLea: {
        if (registers_only)
            return {};
        if ((modrm & 7) != 4)
            return {Carry::Kind::copy, rm, reg};
        if (bytes < 4)
            return {};
        return {Carry::Kind::copy, kFromEncoding[(code[3] & 7) | (rex & 1 ? 8 : 0)], reg};
    }
    default:
        return {};
    }
}

bool is_load_of_pointer(const uint8_t* code, size_t bytes) {
    return bytes >= 3 && (code[0] & 0xf8) == 0x48 && code[1] == 0x8b && code[2] < 0xc0;
}

int loaded_register(const uint8_t* code) {
    return kFromEncoding[(code[2] >> 3 & 7) | (code[0] & 4 ? 8 : 0)];
}

} // namespace

std::optional<AccessOperand> operand_of(const std::vector<uint8_t>& code, uint32_t width, int machine) {
    shim::MemoryInstruction instruction;
    if (code.empty() || !decode(code, machine, &instruction) || instruction.operand_count == 0)
        return std::nullopt;
    const shim::MemoryOperand* chosen = &instruction.operands[0];
    for (int i = instruction.operand_count - 1; i >= 0; --i)
        if (width == 0 || instruction.operands[i].width == width)
            chosen = &instruction.operands[i];
    AccessOperand operand;
    operand.base = chosen->base;
    operand.has_index = chosen->index != shim::kNoRegister;
    operand.is_thread_local = chosen->segment == shim::Segment::fs;
    operand.displacement = chosen->displacement;
    return operand;
}

std::optional<StackSlot> origin_of(std::span<const uint8_t> code, int register_number) {
    if (shim::kDecodesA64 || !has_decoder() || register_number < 0 || register_number >= static_cast<int>(kRegisters))
        return std::nullopt;
    std::array<std::optional<StackSlot>, kRegisters> origins; // by register
    for (size_t at = 0; at < code.size();) {
        const uint8_t* bytes = code.data() + at;
        const size_t left = code.size() - at;
        shim::MemoryInstruction instruction;
        if (!shim::decode_memory_instruction(bytes, left, &instruction) || instruction.length == 0)
            return std::nullopt;
        const Carry carry = carry_of(bytes, left);
        std::optional<StackSlot> carried;
        if (carry.kind == Carry::Kind::copy)
            carried = origins[static_cast<size_t>(carry.from)];
        else if (carry.kind == Carry::Kind::add) // pointer + number is the pointer's, whichever comes first
            carried = origins[static_cast<size_t>(carry.to)] ? origins[static_cast<size_t>(carry.to)]
                                                             : origins[static_cast<size_t>(carry.from)];
        for (size_t i = 0; i < origins.size(); ++i)
            if (instruction.overwritten >> i & 1)
                origins[i].reset();
        if (carry.kind != Carry::Kind::none) {
            if (carried && (carry.kind == Carry::Kind::add || bytes[1] == kLea))
                carried->moved = true;
            origins[static_cast<size_t>(carry.to)] = carried;
        } else if (is_load_of_pointer(bytes, left) && instruction.operand_count == 1) {
            const shim::MemoryOperand& operand = instruction.operands[0];
            if ((operand.base == kFramePointer || operand.base == kStackPointer) &&
                operand.index == shim::kNoRegister)
                origins[static_cast<size_t>(loaded_register(bytes))] =
                    StackSlot{operand.base, operand.displacement, false};
        }
        if (instruction.branch)
            origins = {};
        at += instruction.length;
    }
    return origins[static_cast<size_t>(register_number)];
}

} // namespace plumb::symbols
