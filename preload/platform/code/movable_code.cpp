#include "platform/code/movable_code.h"

#include <string.h>

namespace plumb::shim {
namespace {

// Opcodes with a ModRM byte whose memory form reads or writes general, x87, MMX or SSE/AVX registers and flags only.
// Taken from the opcode maps of the architecture manual; what names a segment, a control or the stack pointer
// implicitly, addresses a bit string, or saves the address of an instruction is left out.
struct OpcodeRange {
    uint8_t first, last;
    uint8_t extensions; // bit n: the form with ModRM.reg = n is one of them
};
constexpr uint8_t kAny = 0xff;
constexpr OpcodeRange kOneByte[] = {
    {0x00, 0x03, kAny}, {0x08, 0x0b, kAny}, {0x10, 0x13, kAny}, {0x18, 0x1b, kAny}, {0x20, 0x23, kAny},
    {0x28, 0x2b, kAny}, {0x30, 0x33, kAny}, {0x38, 0x3b, kAny}, {0x63, 0x63, kAny}, {0x69, 0x69, kAny},
    {0x6b, 0x6b, kAny}, {0x80, 0x81, kAny}, {0x83, 0x8b, kAny}, {0xc0, 0xc1, kAny}, {0xc6, 0xc7, 0x01},
    {0xd0, 0xd3, kAny}, {0xd8, 0xd8, kAny}, {0xd9, 0xd9, 0xad}, {0xda, 0xdc, kAny}, {0xdd, 0xdd, 0x8f},
    {0xde, 0xdf, kAny}, {0xf6, 0xf7, kAny}, {0xfe, 0xff, 0x03},
};
constexpr OpcodeRange kTwoByte[] = {
    {0x10, 0x17, kAny}, {0x28, 0x2f, kAny}, {0x40, 0x4f, kAny}, {0x51, 0x76, kAny}, {0x7c, 0x7f, kAny},
    {0xa4, 0xa4, kAny}, {0xac, 0xac, kAny}, {0xa5, 0xa5, kAny}, {0xad, 0xad, kAny}, {0xaf, 0xaf, kAny},
    {0xb0, 0xb1, kAny}, {0xb6, 0xb8, kAny}, {0xba, 0xba, 0xf0}, {0xbc, 0xc6, kAny}, {0xc7, 0xc7, 0x02},
    {0xd0, 0xf6, kAny}, {0xf8, 0xfe, kAny},
};
constexpr OpcodeRange kThreeByte38[] = {
    {0x00, 0x0b, kAny}, {0x18, 0x1e, kAny}, {0x20, 0x25, kAny}, {0x28, 0x45, kAny}, {0x58, 0x5a, kAny},
    {0x78, 0x79, kAny}, {0x8c, 0x8c, kAny}, {0x8e, 0x8e, kAny}, {0x96, 0x9f, kAny}, {0xa6, 0xaf, kAny},
    {0xb6, 0xbf, kAny}, {0xf0, 0xf7, kAny},
};
constexpr OpcodeRange kThreeByte3a[] = {
    {0x08, 0x0f, kAny}, {0x14, 0x17, kAny}, {0x20, 0x22, kAny}, {0xf0, 0xf0, kAny},
};

template <size_t count> bool is_in(const OpcodeRange (&ranges)[count], uint8_t opcode, int extension) {
    for (const OpcodeRange& range : ranges)
        if (opcode >= range.first && opcode <= range.last)
            return range.extensions >> extension & 1;
    return false;
}

bool is_known(int map, uint8_t opcode, int extension) {
    switch (map) {
    case 0: return is_in(kOneByte, opcode, extension);
    case 1: return is_in(kTwoByte, opcode, extension);
    case 2: return is_in(kThreeByte38, opcode, extension);
    case 3: return is_in(kThreeByte3a, opcode, extension);
    default: return false;
    }
}

// Length of what stands in front of the opcode, and the opcode map; -1: a prefix that is not handled.
int skip_prefixes(const uint8_t* code, int length, int* map) {
    int at = 0;
    for (; at < length; ++at) {
        const uint8_t byte = code[at];
        if (byte == 0x64 || byte == 0x65 || byte == 0x67)
            return -1;
        if (byte != 0x66 && byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && byte != 0x2e && byte != 0x36 &&
            byte != 0x3e && byte != 0x26)
            break;
    }
    if (at + 4 >= 16)
        return -1;
    if (code[at] == 0xc5) {
        *map = 1;
        return at + 2;
    }
    if (code[at] == 0xc4) {
        *map = code[at + 1] & 31;
        return at + 3;
    }
    if (code[at] == 0x62) {
        *map = code[at + 1] & 7;
        return at + 4;
    }
    if ((code[at] & 0xf0) == 0x40)
        ++at;
    *map = 0;
    if (code[at] == 0x0f) {
        ++at;
        *map = 1;
        if (code[at] == 0x38 || code[at] == 0x3a) {
            *map = code[at] == 0x38 ? 2 : 3;
            ++at;
        }
    }
    return at;
}

} // namespace

bool make_movable(const uint8_t* code, uint64_t address, const MemoryInstruction& decoded, MovableCode* movable) {
    if (decoded.operand_count != 1 || decoded.string || decoded.repeated || decoded.gather || decoded.branch ||
        decoded.overwritten >> kStackPointer & 1 || decoded.length > 15)
        return false;
    const MemoryOperand& operand = decoded.operands[0];
    if (operand.stack || operand.segment != Segment::none)
        return false;
    *movable = {};
    memcpy(movable->bytes, code, decoded.length);
    movable->length = decoded.length;
    int map = 0;
    const int opcode_at = skip_prefixes(movable->bytes, decoded.length, &map);
    if (opcode_at < 0 || opcode_at + 2 > decoded.length)
        return false;
    const uint8_t modrm = movable->bytes[opcode_at + 1];
    if (modrm >> 6 == 3 || !is_known(map, movable->bytes[opcode_at], modrm >> 3 & 7))
        return false;
    const bool relative = (modrm & 0xc7) == 0x05;
    if (relative != (operand.base == kNextInstruction))
        return false; // the decoder and this file must agree
    if (relative) {
        if (opcode_at + 6 > decoded.length)
            return false;
        movable->displacement_at = static_cast<uint8_t>(opcode_at + 2);
        movable->relative_target = address + decoded.length + static_cast<uint64_t>(operand.displacement);
    }
    return true;
}

bool move_code(const MovableCode& movable, uint8_t* bytes, uint64_t at) {
    memcpy(bytes, movable.bytes, movable.length);
    if (!movable.displacement_at)
        return true;
    const int64_t displacement = static_cast<int64_t>(movable.relative_target - (at + movable.length));
    if (displacement != static_cast<int32_t>(displacement))
        return false;
    const int32_t narrow = static_cast<int32_t>(displacement);
    memcpy(bytes + movable.displacement_at, &narrow, sizeof narrow);
    return true;
}

} // namespace plumb::shim
