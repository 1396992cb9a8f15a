#include "record/align/rewriting/jump_choice.h"

#include <string.h>

namespace plumb::shim {
namespace {

constexpr uint8_t kJump = 0xe9;
constexpr uint8_t kIgnoredPrefix = 0x3e; // DS segment override
constexpr uint8_t kTrap = 0xcc;

// Segment overrides, REX and BND have no effect on a near jump. The operand size prefix would cut its target off, and
// the repeat prefix is reserved there.
bool is_ignored_by_jump(uint8_t byte) {
    return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || (byte & 0xf0) == 0x40 || byte == 0xf2;
}

} // namespace

int jump_choices(const uint8_t* code, uint64_t address, uint8_t length, uint8_t kept,
                 JumpChoice choices[kMostJumpChoices]) {
    for (int i = 0; i < kept; ++i)
        if (!is_ignored_by_jump(code[i]))
            return 0;
    int count = 0;
    for (uint8_t prefixes = kept; prefixes + 2 <= length && count < kMostJumpChoices; ++prefixes) {
        const int own = length - prefixes - 1; // bytes of the displacement that may be chosen, the low ones
        const int chosen = own < 4 ? own : 4;
        uint32_t fixed = 0;
        for (int i = chosen; i < 4; ++i)
            fixed |= static_cast<uint32_t>(code[prefixes + 1 + i]) << (8 * i);
        const uint64_t behind = address + prefixes + 5;
        AddressRange targets;
        if (chosen == 4) {
            targets = {behind > 1ull << 31 ? behind - (1ull << 31) : 0, behind + (1ull << 31)};
        } else {
            targets.low = behind + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(fixed)));
            targets.high = targets.low + (1ull << (8 * chosen));
            if (targets.high <= targets.low || targets.high >> 47)
                continue; // below the first or above the last address
        }
        choices[count++] = {prefixes, targets};
        if (chosen == 4)
            break; // more prefixes only take from it
    }
    return count;
}

void write_jump(const JumpChoice& choice, const uint8_t* code, uint64_t address, uint8_t length, uint8_t kept,
                uint64_t target, uint8_t* bytes) {
    memcpy(bytes, code, length);
    uint8_t jump[5] = {kJump};
    const uint32_t displacement = static_cast<uint32_t>(target - (address + choice.prefixes + 5u));
    memcpy(jump + 1, &displacement, sizeof displacement);
    for (int i = kept; i < length; ++i)
        bytes[i] = i < choice.prefixes ? kIgnoredPrefix : i < choice.prefixes + 5 ? jump[i - choice.prefixes] : kTrap;
}

} // namespace plumb::shim
