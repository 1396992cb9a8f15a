#include "record/access/code/polling.h"

#include "record/access/code/a64_code.h"
#include "record/access/code/register_use.h"

#include <span>

namespace plumb::record {

namespace {

using shim::MemoryInstruction;
using shim::MemoryOperand;

constexpr int kMostToLoad = 16;

enum Ways : unsigned { kIdle = 1, kWorking = 2 }; // back to a load: without, or with a store outside the stack frame

bool is_in_frame(const MemoryOperand& operand) {
    return operand.stack || operand.base == shim::kStackPointer || operand.base == kFramePointer;
}

// Flags stay as they are over moves, address calculations, and what takes flags itself.
bool keeps_flags(std::span<const uint8_t> code) {
    if (shim::kDecodesA64)
        return a64::keeps_flags(a64::word_of(code));
    size_t at = 0;
    while (at < code.size() && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || (code[at] & 0xf0) == 0x40))
        ++at; // prefixes
    const auto byte = [&](size_t i) { return at + i < code.size() ? code[at + i] : uint8_t{0}; };
    if (byte(0) == 0x0f) {
        const uint8_t second = byte(1);
        const bool moves = (second >= 0x10 && second <= 0x29) || (second >= 0x40 && second <= 0x4f);
        const bool extends = second == 0xb6 || second == 0xb7 || second == 0xbe || second == 0xbf;
        return moves || extends || second == 0x1f || (second & 0xf0) == 0x90;
    }
    return (byte(0) >= 0x88 && byte(0) <= 0x8d) || (byte(0) & 0xf0) == 0x50 || (byte(0) & 0xf0) == 0xb0 || byte(0) == 0xc6 ||
           byte(0) == 0xc7 || byte(0) == 0x90 || byte(0) == 0x63;
}

class Polling {
  public:
    Polling(const CodeRegion& code, uint64_t load, const MemoryOperand& operand) : code_(code), load_(load), operand_(operand) {}

    // How the code at `address` comes back to the load without having changed where it loads from.
    unsigned ways_back(uint64_t address, int steps, bool stored) const {
        unsigned ways = 0;
        for (; steps > 0; --steps) {
            if (address == load_)
                return ways | (stored ? kWorking : kIdle);
            MemoryInstruction instruction;
            if (!code_.decode_at(address, &instruction) || changes(instruction.overwritten, operand_.base) ||
                changes(instruction.overwritten, operand_.index))
                return ways;
            for (int i = 0; i < instruction.operand_count; ++i)
                stored |= instruction.operands[i].store && !is_in_frame(instruction.operands[i]);
            const Jump jump = jump_of(address, instruction);
            if (instruction.branch && jump.target == 0)
                return ways;
            if (jump.conditional)
                ways |= ways_back(jump.target, steps / 2, stored);
            address = next(address, instruction, jump);
        }
        return ways;
    }

    // What was made of the loaded value.
    struct Made {
        uint32_t registers = 0; // bit n: general register n
        bool flags = false, slots = false; // slots: some of the stack frame
    };

    void follow(uint64_t address, const MemoryInstruction& instruction, Made& made) const {
        const auto bytes = code_.bytes_at(address).first(instruction.length);
        RegisterUse use;
        if (!decode_register_use(bytes, &use))
            return;
        bool of_it = address == load_ || (use.taken & made.registers) != 0;
        for (int i = 0; i < instruction.operand_count; ++i)
            of_it |= instruction.operands[i].load && is_in_frame(instruction.operands[i]) && made.slots;
        made.registers = of_it ? made.registers | use.given | use.kept : made.registers & ~use.given;
        for (int i = 0; i < instruction.operand_count; ++i)
            made.slots |= of_it && instruction.operands[i].store && is_in_frame(instruction.operands[i]);
        if (!keeps_flags(bytes))
            made.flags = of_it;
    }

    // Whether a jump that depends on the value leaves the loop.
    bool is_left_by_it(uint64_t address, int steps, Made made) const {
        for (; steps > 0 && address != load_; --steps) {
            MemoryInstruction instruction;
            if (!code_.decode_at(address, &instruction))
                return false;
            const Jump jump = jump_of(address, instruction);
            if (instruction.branch && jump.target == 0)
                return false;
            if (!instruction.branch)
                follow(address, instruction, made);
            if (jump.conditional) {
                const bool goes_back = ways_back(jump.target, kMostToLoad, false) != 0;
                const int looked_at = shim::kDecodesA64 ? a64::register_looked_at(a64::word_of(code_.bytes_at(address))) : -1;
                const bool depends = looked_at < 0 ? made.flags : (made.registers >> looked_at & 1) != 0;
                if (depends && goes_back != (ways_back(address + instruction.length, kMostToLoad, false) != 0))
                    return true;
                if (is_left_by_it(jump.target, steps / 2, made))
                    return true;
            }
            address = next(address, instruction, jump);
        }
        return false;
    }

  private:
    Jump jump_of(uint64_t address, const MemoryInstruction& instruction) const {
        return jump_at(address, code_.bytes_at(address).first(instruction.length));
    }
    static uint64_t next(uint64_t address, const MemoryInstruction& instruction, const Jump& jump) {
        return jump.target != 0 && !jump.conditional ? jump.target : address + instruction.length;
    }

    const CodeRegion& code_;
    const uint64_t load_;
    const MemoryOperand& operand_;
};

} // namespace

bool polls(const CodeRegion& code, uint64_t load, const MemoryInstruction& loading, const MemoryOperand& operand) {
    if (!operand.load || operand.store || operand.stack)
        return false;
    const Polling polling(code, load, operand);
    const uint64_t behind = load + loading.length;
    if (polling.ways_back(behind, kMostToLoad, false) != kIdle)
        return false;
    Polling::Made made;
    polling.follow(load, loading, made);
    return polling.is_left_by_it(behind, kMostToLoad, made);
}

} // namespace plumb::record
