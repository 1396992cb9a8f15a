// What one instruction of x86-64 does to a general register, for the few kinds that loops count and step with. Needs the
// decoder (platform/code/decoder.h): without it nothing is known of any instruction.
#pragma once

#include <cstdint>
#include <span>

namespace plumb::record {

// first * factor + second * factor + constant; registers by their DWARF numbers as in platform/code/decoder.h.
struct LinearValue {
    int8_t first = -1, second = -1; // -1: none
    int32_t first_factor = 1, second_factor = 1;
    int64_t constant = 0;
    bool narrow = false; // only its lower 32 bits count
};

struct RegisterStep {
    int8_t changed = -1;        // the register that is given `value`; -1: none, or not of a known kind
    bool sign_extended = false; // a narrow value is sign-extended, not zero-extended
    LinearValue value;
    // What a conditional jump behind it compares with zero.
    enum class Flags : uint8_t { kept, set, unknown } flags = Flags::unknown;
    LinearValue compared; // if set: as the registers are before the instruction
    uint32_t mixed = 0; // bit n: register n is one of the two that arithmetic, a conditional move or one that widens takes
};

// `instruction`: exactly its bytes. Of instructions of other kinds only `flags` is set: `changed` is -1.
RegisterStep register_step(std::span<const uint8_t> instruction);

} // namespace plumb::record
