#include "record/access/code/yield_call.h"

#include "platform/code/memory_instruction.h" // of the shim
#include "record/access/code/a64_code.h"
#include "record/access/code/code_region.h"
#include "record/access/code/register_use.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <sys/syscall.h>

namespace plumb::record {

namespace {

constexpr int kMostInstructions = 32, kMostDepth = 4;
constexpr size_t kInstructionBytes = 15;

constexpr int64_t kNone = -1;

// mov $number,%eax
int64_t number_given(std::span<const uint8_t> instruction) {
    uint32_t number = 0;
    if (instruction.size() != 5 || instruction[0] != 0xb8)
        return kNone;
    std::memcpy(&number, instruction.data() + 1, sizeof number);
    return number;
}

bool is_system_call(std::span<const uint8_t> instruction) {
    return instruction.size() == 2 && instruction[0] == 0x0f && instruction[1] == 0x05;
}

bool is_return(std::span<const uint8_t> instruction) {
    return instruction.back() == 0xc3 && (instruction.size() == 1 || (instruction.size() == 2 && instruction[0] >= 0xf2));
}

// Of a call through a register that functions preserve, for themselves not as a frame pointer: its DWARF number. -1: another call.
int register_of(std::span<const uint8_t> call) {
    const bool has_rex = call.size() == 3 && (call[0] & 0xf0) == 0x40;
    if (call.size() != (has_rex ? 3u : 2u) || call[call.size() - 2] != 0xff || (call.back() & 0xf8) != 0xd0)
        return -1;
    const int number = (call.back() & 7) | (has_rex && (call[0] & 1) ? 8 : 0);
    constexpr int kRbx = 3; // the same number in DWARF
    return number == kRbx || number >= 12 ? number : -1;
}

// Of a jump or call through memory that lies at a distance from it, where the address stands; 0: not such a one.
uint64_t pointer_of(const shim::MemoryInstruction& decoded, uint64_t address) {
    for (int i = 0; i < decoded.operand_count; ++i) {
        const shim::MemoryOperand& operand = decoded.operands[i];
        if (operand.load && operand.base == shim::kNextInstruction && operand.index == shim::kNoRegister && operand.width == 8)
            return address + decoded.length + static_cast<uint64_t>(operand.displacement);
    }
    return 0;
}

bool stores_outside_of_frame(const shim::MemoryInstruction& decoded) {
    return std::any_of(decoded.operands, decoded.operands + decoded.operand_count, [](const shim::MemoryOperand& operand) {
        const bool in_frame = operand.stack || ((operand.base == shim::kStackPointer || operand.base == kFramePointer) &&
                                                operand.index == shim::kNoRegister && operand.segment == shim::Segment::none);
        return operand.store && !in_frame;
    });
}

class Follower {
  public:
    explicit Follower(const ReadMemory& memory) : memory_(memory) {}

    bool call_only_yields(uint64_t address, const shim::Registers* registers) {
        std::array<uint8_t, kInstructionBytes> bytes{};
        shim::MemoryInstruction decoded{};
        const size_t got = memory_(address, bytes.data(), bytes.size());
        if (got == 0 || !shim::decode_memory_instruction(bytes.data(), got, &decoded))
            return false;
        const std::span<const uint8_t> instruction(bytes.data(), decoded.length);
        if (!is_call(instruction))
            return false;
        const int held_by = register_of(instruction);
        const uint64_t target = held_by < 0  ? target_of(instruction, decoded, address + decoded.length)
                                : registers ? (*registers)[held_by]
                                            : 0;
        return target != 0 && only_yields(target, kMostDepth);
    }

  private:
    bool only_yields(uint64_t address, int depth) {
        int64_t number = kNone; // in eax
        bool has_yielded = false;
        for (; steps_ < kMostInstructions; ++steps_) {
            std::array<uint8_t, kInstructionBytes> bytes{};
            const size_t got = memory_(address, bytes.data(), bytes.size());
            shim::MemoryInstruction decoded{};
            if (got == 0 || !shim::decode_memory_instruction(bytes.data(), got, &decoded))
                return false;
            const std::span<const uint8_t> instruction(bytes.data(), decoded.length);
            const uint64_t next = address + decoded.length;
            address = next;
            if (is_system_call(instruction)) {
                if (number != SYS_sched_yield)
                    return false;
                has_yielded = true;
                number = kNone;
            } else if (!decoded.branch) {
                if (stores_outside_of_frame(decoded) || decoded.string || decoded.gather)
                    return false;
                if (const int64_t given = number_given(instruction); given != kNone)
                    number = given;
                else if (decoded.overwritten & 1u)
                    number = kNone;
            } else if (is_return(instruction)) {
                return has_yielded;
            } else if (const Jump jump = jump_at(next - decoded.length, instruction); jump.target != 0) {
                if (jump.conditional && !has_yielded)
                    return false;
                if (!jump.conditional) // a conditional one is for errors, which sched_yield never makes
                    address = jump.target;
            } else {
                const uint64_t target = target_of(instruction, decoded, next);
                if (target == 0)
                    return false;
                if (!is_call(instruction)) {
                    address = target;
                    continue;
                }
                if (depth == 0 || !only_yields(target, depth - 1))
                    return false;
                has_yielded = true;
                number = kNone;
            }
        }
        return false;
    }

    // Of a call, or of a jump through memory. 0: not known.
    uint64_t target_of(std::span<const uint8_t> instruction, const shim::MemoryInstruction& decoded, uint64_t next) const {
        if (instruction[0] == 0xe8 && instruction.size() == 5) {
            int32_t distance = 0;
            std::memcpy(&distance, instruction.data() + 1, sizeof distance);
            return next + static_cast<uint64_t>(int64_t{distance});
        }
        uint64_t target = 0;
        const uint64_t pointer = pointer_of(decoded, next - decoded.length);
        const bool known = pointer != 0 && memory_(pointer, reinterpret_cast<uint8_t*>(&target), sizeof target) == sizeof target;
        return known ? target : 0;
    }

    const ReadMemory& memory_;
    int steps_ = 0;
};

} // namespace

bool call_only_yields(const ReadMemory& memory, uint64_t call, const shim::Registers* registers) {
    if (shim::kDecodesA64)
        return false; // not followed there
    return Follower(memory).call_only_yields(call, registers);
}

bool ends_with_yield(const uint8_t* code, size_t bytes) {
    if (bytes < kYieldBytes)
        return false;
    const std::span<const uint8_t> last(code + bytes - kYieldBytes, kYieldBytes);
    if (shim::kDecodesA64) { // mov x8, #number; svc #0
        constexpr uint32_t kMove = 0xd2800008, kCall = 0xd4000001;
        return a64::word_of(last) == (kMove | SYS_sched_yield << 5) && a64::word_of(last.subspan(4)) == kCall;
    }
    return is_system_call(last.last(2)) && number_given(last.first(5)) == SYS_sched_yield;
}

} // namespace plumb::record
