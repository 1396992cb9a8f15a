#include "record/access/register_step.h"

#include <array>
#include <cstring>
#include <optional>

namespace plumb::record {

namespace {

using Flags = RegisterStep::Flags;

int8_t register_number(unsigned encoded) {
    static constexpr std::array<int8_t, 16> kDwarf = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    return kDwarf[encoded & 15];
}

// The bytes behind the opcode, in order. Reading past the end yields zeros; the caller asks `whole` before it believes.
class Reader {
  public:
    explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
    uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : (whole_ = false, uint8_t{0}); }
    uint8_t peek() const { return at_ < bytes_.size() ? bytes_[at_] : uint8_t{0}; }
    template <typename Number>
    int64_t number() {
        Number value{};
        if (bytes_.size() - at_ < sizeof value) {
            whole_ = false;
            return 0;
        }
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    bool whole() const { return whole_; }

  private:
    std::span<const uint8_t> bytes_;
    size_t at_ = 0;
    bool whole_ = true;
};

struct Prefixes {
    bool wide = false;                         // REX.W: 64 bits
    unsigned reg = 0, index = 0, base = 0;     // the fourth bits
    bool other = false;                        // 16-bit operands, 32-bit addresses, a segment, LOCK, REP
};

struct Operands {
    bool is_register = false; // the r/m operand is one
    int8_t rm = -1, reg = -1;
    unsigned extension = 0; // of the opcode, in place of `reg`
    std::optional<LinearValue> address; // of a memory operand; none: relative to the next instruction
};

Operands operands_of(Reader& bytes, const Prefixes& prefixes) {
    const uint8_t modrm = bytes.byte();
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    Operands operands;
    operands.extension = modrm >> 3 & 7;
    operands.reg = register_number(operands.extension | prefixes.reg << 3);
    if (mod == 3) {
        operands.is_register = true;
        operands.rm = register_number(rm | prefixes.base << 3);
        return operands;
    }
    LinearValue address;
    if (rm == 4) { // a SIB byte
        const uint8_t sib = bytes.byte();
        const unsigned index = (sib >> 3 & 7) | prefixes.index << 3, base = sib & 7;
        if (index != 4) {
            address.second = register_number(index);
            address.second_factor = 1 << (sib >> 6);
        }
        if (base != 5 || mod != 0)
            address.first = register_number(base | prefixes.base << 3);
        else
            address.constant = bytes.number<int32_t>();
    } else if (rm == 5 && mod == 0) {
        bytes.number<int32_t>();
        return operands;
    } else {
        address.first = register_number(rm | prefixes.base << 3);
    }
    if (mod == 1)
        address.constant += bytes.number<int8_t>();
    else if (mod == 2)
        address.constant += bytes.number<int32_t>();
    operands.address = address;
    return operands;
}

LinearValue copy_of(int8_t number) {
    LinearValue value;
    value.first = number;
    return value;
}

LinearValue sum(int8_t first, int8_t second, int32_t second_factor) {
    LinearValue value = copy_of(first);
    value.second = second;
    value.second_factor = second_factor;
    return value;
}

LinearValue plus(int8_t first, int64_t constant) {
    LinearValue value = copy_of(first);
    value.constant = constant;
    return value;
}

RegisterStep assign(int8_t changed, LinearValue value, bool wide, Flags flags) {
    RegisterStep step;
    step.changed = changed;
    step.value = value;
    step.value.narrow = !wide;
    step.flags = flags;
    if (flags == Flags::set)
        step.compared = step.value;
    return step;
}

RegisterStep compare(LinearValue value, bool wide) {
    RegisterStep step;
    step.flags = Flags::set;
    step.compared = value;
    step.compared.narrow = !wide;
    return step;
}

RegisterStep only_flags(Flags flags) {
    RegisterStep step;
    step.flags = flags;
    return step;
}

// add, sub or cmp of a register and a constant, by the extension of the opcode.
RegisterStep with_constant(const Operands& operands, int64_t constant, bool wide) {
    if (!operands.is_register)
        return only_flags(Flags::unknown);
    switch (operands.extension) {
    case 0:
        return assign(operands.rm, plus(operands.rm, constant), wide, Flags::set);
    case 5:
        return assign(operands.rm, plus(operands.rm, -constant), wide, Flags::set);
    case 7:
        return compare(plus(operands.rm, -constant), wide);
    default:
        return only_flags(Flags::unknown);
    }
}

// Two registers, the first of which is the destination.
RegisterStep of_two(uint8_t opcode, int8_t to, int8_t from, bool wide) {
    switch (opcode & 0xfc) {
    case 0x00:
        return assign(to, sum(to, from, 1), wide, Flags::set);
    case 0x28:
        if (to == from)
            return assign(to, {}, wide, Flags::unknown);
        return assign(to, sum(to, from, -1), wide, Flags::set);
    case 0x30:
        return to == from ? assign(to, {}, wide, Flags::unknown) : only_flags(Flags::unknown);
    case 0x38:
        return compare(sum(to, from, -1), wide);
    default:
        return only_flags(Flags::unknown);
    }
}

// Of the second map only those are named that change the flags: most are vector operations and moves, which do not.
Flags flags_of_second_map(uint8_t opcode, uint8_t next) {
    const bool is_comparison = opcode == 0x2e || opcode == 0x2f || (opcode == 0x38 && next == 0x17);
    const bool is_integer = (opcode >= 0xa2 && opcode <= 0xaf) || (opcode >= 0xb0 && opcode <= 0xb5) ||
                            (opcode >= 0xb8 && opcode <= 0xbd) || opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc7;
    return is_comparison || is_integer || opcode == 0x05 ? Flags::unknown : Flags::kept;
}

RegisterStep of_primary_map(uint8_t opcode, Reader& bytes, const Prefixes& prefixes) {
    const bool wide = prefixes.wide;
    switch (opcode) {
    case 0x01: case 0x03: case 0x29: case 0x2b: case 0x31: case 0x33: case 0x39: case 0x3b: {
        const Operands operands = operands_of(bytes, prefixes);
        if (!operands.is_register)
            return only_flags(Flags::unknown);
        const bool to_reg = (opcode & 2) != 0;
        return of_two(opcode, to_reg ? operands.reg : operands.rm, to_reg ? operands.rm : operands.reg, wide);
    }
    case 0x05: case 0x2d: case 0x3d: { // of rax and a constant
        Operands operands;
        operands.is_register = true;
        operands.rm = register_number(0);
        operands.extension = opcode >> 3;
        return with_constant(operands, bytes.number<int32_t>(), wide);
    }
    case 0x63: { // movslq
        const Operands operands = operands_of(bytes, prefixes);
        if (!operands.is_register || !wide)
            return only_flags(Flags::kept);
        RegisterStep step = assign(operands.reg, copy_of(operands.rm), false, Flags::kept);
        step.sign_extended = true;
        return step;
    }
    case 0x69: case 0x6b: { // imul by a constant
        const Operands operands = operands_of(bytes, prefixes);
        const int64_t factor = opcode == 0x69 ? bytes.number<int32_t>() : bytes.number<int8_t>();
        if (!operands.is_register)
            return only_flags(Flags::unknown);
        LinearValue value = copy_of(operands.rm);
        value.first_factor = static_cast<int32_t>(factor);
        return assign(operands.reg, value, wide, Flags::unknown);
    }
    case 0x81: case 0x83: {
        const Operands operands = operands_of(bytes, prefixes);
        return with_constant(operands, opcode == 0x81 ? bytes.number<int32_t>() : bytes.number<int8_t>(), wide);
    }
    case 0x85: { // test
        const Operands operands = operands_of(bytes, prefixes);
        return operands.is_register && operands.rm == operands.reg ? compare(copy_of(operands.rm), wide)
                                                                   : only_flags(Flags::unknown);
    }
    case 0x89: case 0x8b: {
        const Operands operands = operands_of(bytes, prefixes);
        if (!operands.is_register)
            return only_flags(Flags::kept);
        return opcode == 0x89 ? assign(operands.rm, copy_of(operands.reg), wide, Flags::kept)
                              : assign(operands.reg, copy_of(operands.rm), wide, Flags::kept);
    }
    case 0x8d: { // lea
        const Operands operands = operands_of(bytes, prefixes);
        return operands.address ? assign(operands.reg, *operands.address, wide, Flags::kept) : only_flags(Flags::kept);
    }
    case 0xc1: case 0xd1: { // shl by a constant
        const Operands operands = operands_of(bytes, prefixes);
        const int64_t count = opcode == 0xd1 ? 1 : bytes.number<int8_t>();
        if (!operands.is_register || operands.extension != 4 || count > 30)
            return only_flags(Flags::unknown);
        LinearValue value = copy_of(operands.rm);
        value.first_factor = 1 << count;
        return assign(operands.rm, value, wide, Flags::unknown);
    }
    case 0xc7: {
        const Operands operands = operands_of(bytes, prefixes);
        if (!operands.is_register)
            return only_flags(Flags::kept);
        LinearValue value;
        value.constant = bytes.number<int32_t>();
        return assign(operands.rm, value, wide, Flags::kept);
    }
    case 0xff: { // inc, dec
        const Operands operands = operands_of(bytes, prefixes);
        if (!operands.is_register || operands.extension > 1)
            return only_flags(Flags::unknown);
        return assign(operands.rm, plus(operands.rm, operands.extension == 0 ? 1 : -1), wide, Flags::set);
    }
    default:
        break;
    }
    if (opcode >= 0xb8 && opcode <= 0xbf) {
        LinearValue value;
        value.constant = wide ? bytes.number<int64_t>() : bytes.number<int32_t>();
        return assign(register_number((opcode & 7u) | prefixes.base << 3), value, wide, Flags::kept);
    }
    const bool is_jump = (opcode & 0xf0) == 0x70 || opcode == 0xe9 || opcode == 0xeb;
    const bool is_move = (opcode >= 0x50 && opcode <= 0x5f) || (opcode >= 0x88 && opcode <= 0x8e) || opcode == 0x90 ||
                         opcode == 0x98 || opcode == 0x99 || (opcode >= 0xb0 && opcode <= 0xb7) || opcode == 0xc6;
    return only_flags(is_jump || is_move ? Flags::kept : Flags::unknown);
}

} // namespace

RegisterStep register_step(std::span<const uint8_t> instruction) {
    Reader bytes(instruction);
    Prefixes prefixes;
    uint8_t opcode = bytes.byte();
    for (; opcode == 0x66 || opcode == 0x67 || opcode == 0xf2 || opcode == 0xf3 || opcode == 0xf0 || opcode == 0x2e ||
           opcode == 0x36 || opcode == 0x3e || opcode == 0x26 || opcode == 0x64 || opcode == 0x65;
         opcode = bytes.byte()) {
        prefixes.other = true;
        if (!bytes.whole())
            return {};
    }
    if ((opcode & 0xf0) == 0x40) {
        prefixes.wide = opcode & 8;
        prefixes.reg = opcode >> 2 & 1;
        prefixes.index = opcode >> 1 & 1;
        prefixes.base = opcode & 1;
        opcode = bytes.byte();
    }
    if (opcode == 0xc5 || opcode == 0xc4 || opcode == 0x62) { // VEX, EVEX: in 64-bit code they are nothing else
        unsigned map = 1;
        const unsigned skipped = opcode == 0xc5 ? 1 : opcode == 0xc4 ? 2 : 3;
        for (unsigned i = 0; i < skipped; ++i) {
            const uint8_t byte = bytes.byte();
            if (i == 0 && opcode != 0xc5)
                map = byte & (opcode == 0xc4 ? 31 : 7);
        }
        const uint8_t vector_opcode = bytes.byte();
        const bool integer = opcode == 0xc4 && (map == 2 || map == 3) && vector_opcode >= 0xf0; // andn, bzhi, rorx, ...
        const bool compares = (map == 1 && (vector_opcode == 0x2e || vector_opcode == 0x2f)) ||
                              (map == 2 && (vector_opcode == 0x17 || vector_opcode == 0x0e || vector_opcode == 0x0f));
        return only_flags(integer || compares || !bytes.whole() ? Flags::unknown : Flags::kept);
    }
    if (opcode == 0x0f) {
        const uint8_t second = bytes.byte();
        return only_flags(bytes.whole() ? flags_of_second_map(second, bytes.peek()) : Flags::unknown);
    }
    RegisterStep step = of_primary_map(opcode, bytes, prefixes);
    if (!bytes.whole() || (prefixes.other && (step.changed >= 0 || step.flags == Flags::set)))
        return only_flags(Flags::unknown); // partial registers and segments: not of a known kind
    return step;
}

} // namespace plumb::record
