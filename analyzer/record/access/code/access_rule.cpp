#include "record/access/code/access_rule.h"

#include "record/access/code/polling.h"
#include "record/access/code/register_use.h"

#include <plumb/trace_format.h>

#include <algorithm>

namespace plumb::record {

namespace {

using shim::MemoryInstruction;
using shim::MemoryOperand;

constexpr int kMostBack = 3, kMostAhead = 16;
constexpr unsigned kWidestAccess = 64; // bytes; wider ones save or restore whole register sets

bool decode(const CodeRegion& code, uint64_t address, MemoryInstruction& instruction) {
    return code.decode_at(address, &instruction);
}

bool is_known(const MemoryOperand& operand, uint32_t overwritten) {
    return operand.segment == shim::Segment::none && !changes(overwritten, operand.base) &&
           !changes(overwritten, operand.index);
}

bool is_access(const MemoryOperand& operand) {
    return (operand.load || operand.store) && operand.width > 0 && operand.width <= kWidestAccess;
}

// The operand that the instruction is there for: of push (%rax), the load, not the stack's slot.
const MemoryOperand* main_operand(const MemoryInstruction& instruction, bool only_loads) {
    const MemoryOperand* found = nullptr;
    for (int i = 0; i < instruction.operand_count; ++i) {
        const MemoryOperand& operand = instruction.operands[i];
        if (is_access(operand) && (operand.load || !only_loads) && (!found || (found->stack && !operand.stack)))
            found = &operand;
    }
    return found;
}

// Whether what was loaded goes back to where it came from: a few instructions on, with the same operand.
bool goes_back(const CodeRegion& code, uint64_t load, const MemoryInstruction& loading, const MemoryOperand& operand) {
    constexpr int kSoon = 8;
    const auto place = [](const MemoryOperand& of, uint64_t behind) {
        return static_cast<uint64_t>(of.displacement) + (of.base == shim::kNextInstruction ? behind : 0);
    };
    const uint64_t wanted = place(operand, load + loading.length);
    uint32_t overwritten = loading.overwritten;
    uint64_t address = load + loading.length;
    for (int step = 0; step < kSoon; ++step) {
        MemoryInstruction instruction;
        if (!is_known(operand, overwritten) || !decode(code, address, instruction) || instruction.branch)
            return false;
        address += instruction.length;
        for (int i = 0; i < instruction.operand_count; ++i) {
            const MemoryOperand& other = instruction.operands[i];
            if (other.store && other.base == operand.base && other.index == operand.index &&
                other.scale == operand.scale && other.segment == operand.segment && place(other, address) == wanted)
                return true;
        }
        overwritten |= instruction.overwritten;
    }
    return false;
}

AccessPlan plan_of(const CodeRegion& code, const MemoryInstruction& instruction, const MemoryOperand& operand,
                   AccessPlan::Kind kind, uint64_t address, uint64_t sampled) {
    AccessPlan plan;
    plan.kind = kind;
    plan.distance = static_cast<int32_t>(static_cast<int64_t>(address - sampled));
    plan.length = instruction.length;
    plan.operand = operand;
    plan.base_moved = kind == AccessPlan::Kind::before ? operand.base_step : int16_t{0};
    std::ranges::copy(code.bytes_at(address).first(instruction.length), plan.code.begin());
    plan.updates = operand.load && !operand.store && !operand.stack && goes_back(code, address, instruction, operand);
    plan.polls = polls(code, address, instruction, operand);
    plan.flags = static_cast<uint16_t>((operand.load ? trace::kAlignLoad : 0u) | (operand.store ? trace::kAlignStore : 0u) |
                                       (instruction.locked ? trace::kAlignLocked : 0u) |
                                       (instruction.string ? trace::kAlignString : 0u) |
                                       (operand.stack ? trace::kAlignStack : 0u) |
                                       (instruction.vector && operand.width >= 16 ? trace::kAlignPacked : 0u));
    return plan;
}

enum class Answer { found, unknown, none };

Answer look_back(const CodeRegion& code, uint64_t sampled, AccessPlan& plan) {
    uint32_t overwritten = 0;
    uint64_t address = sampled;
    for (int step = 0; step < kMostBack; ++step) {
        address = code.before(address);
        MemoryInstruction instruction;
        if (address == 0 || !decode(code, address, instruction) || instruction.branch)
            return Answer::none;
        const uint32_t overwritten_behind = overwritten;
        overwritten |= instruction.overwritten;
        if (instruction.gather)
            return Answer::unknown;
        const MemoryOperand* operand = main_operand(instruction, true);
        if (!operand)
            continue;
        if (operand->segment != shim::Segment::none)
            return Answer::unknown;
        if (!is_known(*operand, overwritten_behind | (instruction.overwritten & ~shim::stepped_base(*operand))))
            return Answer::none;
        plan = plan_of(code, instruction, *operand, AccessPlan::Kind::before, address, sampled);
        return Answer::found;
    }
    return Answer::none;
}

AccessPlan look_ahead(const CodeRegion& code, uint64_t sampled) {
    uint32_t overwritten = 0;
    uint64_t address = sampled;
    for (int step = 0; step < kMostAhead; ++step) {
        MemoryInstruction instruction;
        if (!decode(code, address, instruction) || instruction.gather)
            return {};
        const Jump jump = jump_at(address, code.bytes_at(address).first(instruction.length));
        const bool leaves = instruction.branch && jump.target == 0; // a call, a return, or to an unknown place
        if (leaves && step > 0)
            return {};
        if (const MemoryOperand* operand = main_operand(instruction, false)) {
            if (!is_known(*operand, overwritten))
                return {};
            return plan_of(code, instruction, *operand, step == 0 ? AccessPlan::Kind::at : AccessPlan::Kind::ahead,
                           address, sampled);
        }
        overwritten |= instruction.overwritten;
        if (leaves)
            return {};
        const bool goes_back = jump.target != 0 && jump.target <= address;
        address = goes_back || (jump.target != 0 && !jump.conditional) ? jump.target : address + instruction.length;
    }
    return {};
}

// A thread whose stores wait for a line is interrupted at the next store that finds no room.
std::shared_ptr<const AccessPlan> store_at(const CodeRegion& code, uint64_t sampled) {
    MemoryInstruction instruction;
    if (!decode(code, sampled, instruction))
        return nullptr;
    const MemoryOperand* operand = main_operand(instruction, false);
    if (!operand || !operand->store || operand->stack || !is_known(*operand, 0))
        return nullptr;
    return std::make_shared<const AccessPlan>(
        plan_of(code, instruction, *operand, AccessPlan::Kind::at, sampled, sampled));
}

} // namespace

AccessPlan plan_access(const CodeRegion& code, uint64_t sampled) {
    AccessPlan plan;
    switch (look_back(code, sampled, plan)) {
    case Answer::found:
        plan.store = store_at(code, sampled);
        return plan;
    case Answer::unknown:
        return {};
    case Answer::none:
        break;
    }
    return look_ahead(code, sampled);
}

} // namespace plumb::record
