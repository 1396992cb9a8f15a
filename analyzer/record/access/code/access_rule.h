// Which memory access a time sample landed behind. A thread that waits for a load is interrupted at the instruction
// behind it, with the registers of that moment: the load's address can be determined as long as they still hold what it was
// made of.
#pragma once

#include "platform/code/memory_instruction.h" // of the shim: one decoder for both sides
#include "record/access/code/code_region.h"

#include <array>
#include <cstdint>
#include <memory>

namespace plumb::record {

class LoopPath;

// What to do with the registers of every sample at one address. Kept free of the address itself: it holds for the same
// code wherever it is mapped.
struct AccessPlan {
    enum class Kind : uint8_t { none, before, at, ahead }; // where the access stands from the sampled instruction
    Kind kind = Kind::none;      // none: no address can be determined
    int32_t distance = 0;        // bytes from the sampled address to the instruction that made the access
    uint8_t length = 0;          // of that instruction
    uint16_t flags = 0;          // trace::AlignFlags
    int16_t base_moved = 0;      // by how much the access itself has moved its base register on since
    bool updates = false;        // an instruction soon behind the load stores to the same place
    bool polls = false;          // the loop around it does nothing but load from there until something changes
    shim::MemoryOperand operand{};
    std::array<uint8_t, 15> code{}; // of that instruction, `length` bytes
    std::shared_ptr<const AccessPlan> store; // of an access behind which the sample landed: what the sampled instruction
                                             // itself is about to store; null: nothing
    std::shared_ptr<const LoopPath> loop; // that it stands in; not filled by plan_access; null: in none that is known

    uint64_t instruction(uint64_t sampled) const { return sampled + static_cast<uint64_t>(int64_t{distance}); }
    // `registers`: of the sample; the one of the next instruction is set here.
    uint64_t address(uint64_t sampled, shim::Registers& registers) const {
        registers[shim::kNextInstruction] = instruction(sampled) + length;
        return shim::operand_address(operand, registers, 0) - static_cast<uint64_t>(int64_t{base_moved});
    }
};

// The rule. Back at most three instructions, not past a branch nor past the start of a loop, to a load whose registers
// nothing that ran since (the load included) has changed; else what the sampled instruction itself is about to access;
// else ahead along the way that a loop takes, to the first access whose registers nothing before it changes. Where the
// likely culprit is a gather or relative to a thread's segment, whose address the registers do not give: none.
AccessPlan plan_access(const CodeRegion& code, uint64_t sampled);

} // namespace plumb::record
