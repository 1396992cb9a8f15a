#include "unwind/frame_size.h"

#include "platform/code/decoder.h" // of the shim

#include <cstring>

namespace plumb::unwind {

namespace {

constexpr uint32_t kSlot = 8;

struct Instruction {
    const uint8_t* code;
    unsigned length;

    uint8_t at(unsigned index) const { return index < length ? code[index] : 0; }
    bool is(std::initializer_list<uint8_t> bytes) const {
        return length >= bytes.size() && std::memcmp(code, bytes.begin(), bytes.size()) == 0;
    }
    // The opcode of an instruction on one register, possibly with REX.B before it.
    uint8_t short_opcode() const { return length == 2 && code[0] == 0x41 ? code[1] : length == 1 ? code[0] : 0; }
};

bool ends_straight_line(const Instruction& it) {
    const uint8_t first = it.at(0), second = it.at(1);
    return first == 0xe8 || first == 0xe9 || first == 0xeb || first == 0xc3 || first == 0xc2 || (first >= 0x70 && first < 0x80) ||
           (first == 0x0f && second >= 0x80 && second < 0x90) || (first == 0x0f && second == 0x05) ||
           (first == 0xff && (second >> 3 & 7) >= 2 && (second >> 3 & 7) <= 5) || (first == 0x41 && second == 0xff);
}

// Of `sub $bytes,%rsp`.
std::optional<uint32_t> subtracted(const Instruction& it) {
    if (it.is({0x48, 0x83, 0xec}) && it.length == 4)
        return static_cast<uint32_t>(static_cast<int8_t>(it.at(3)));
    if (it.is({0x48, 0x81, 0xec}) && it.length == 7) {
        uint32_t bytes;
        std::memcpy(&bytes, it.code + 3, sizeof bytes);
        return bytes;
    }
    return std::nullopt;
}

// Any other instruction that may change rsp: its 64-bit forms with rsp as the register or the register operand of ModRM.
bool may_move_stack(const Instruction& it) {
    const uint8_t opcode = it.short_opcode();
    if ((opcode >= 0x58 && opcode < 0x60) || it.at(0) == 0xc9)
        return true;
    if (it.at(0) < 0x48 || it.at(0) > 0x4f)
        return false;
    const uint8_t operation = it.at(1), operands = it.at(2);
    const bool register_is_rsp = (operands >> 3 & 7) == 4 && (it.at(0) & 4) == 0;
    const bool operand_is_rsp = operands >= 0xc0 && (operands & 7) == 4 && (it.at(0) & 1) == 0;
    switch (operation) {
    case 0x8d: // lea
    case 0x8b: // mov, and arithmetic that stores to the register
    case 0x03:
    case 0x2b:
    case 0x23:
        return register_is_rsp;
    case 0x89:
    case 0x01:
    case 0x29:
    case 0x21:
    case 0x81:
    case 0x83:
    case 0x87:
        return operand_is_rsp || (operation == 0x87 && register_is_rsp);
    default:
        return false;
    }
}

} // namespace

std::optional<uint32_t> frame_bytes(std::span<const uint8_t> code) {
    bool is_pushed = false, has_frame = false;
    uint32_t bytes = 0;
    while (!code.empty()) {
        const Instruction it{code.data(), shim::instruction_length(code.data(), code.size())};
        if (it.length == 0 || it.length > code.size())
            return std::nullopt;
        code = code.subspan(it.length);
        if (ends_straight_line(it))
            break;
        const uint8_t opcode = it.short_opcode();
        if (!is_pushed)
            is_pushed = it.is({0x55});
        else if (!has_frame)
            has_frame = it.is({0x48, 0x89, 0xe5}) || it.is({0x48, 0x8b, 0xec});
        else if ((opcode >= 0x50 && opcode < 0x58) || it.at(0) == 0x6a || it.at(0) == 0x68)
            bytes += kSlot;
        else if (const auto more = subtracted(it))
            bytes += *more;
        else if (may_move_stack(it))
            return std::nullopt;
    }
    return has_frame ? std::optional(bytes) : std::nullopt;
}

} // namespace plumb::unwind
