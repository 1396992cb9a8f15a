#include "record/access/loops/replayable_loop.h"

#include "record/access/loops/loop_path.h"
#include "record/access/loops/loop_round.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <span>

namespace plumb::record {

namespace {

constexpr size_t kMostReplayed = 128;

uint32_t general_bit(int8_t number) { return number < 0 || number >= shim::kNextInstruction ? 0 : 1u << number; }

uint16_t flags_of(const shim::MemoryInstruction& instruction, const shim::MemoryOperand& operand) {
    return static_cast<uint16_t>((operand.load ? trace::kAlignLoad : 0u) | (operand.store ? trace::kAlignStore : 0u) |
                                 (instruction.vector && operand.width >= 16 ? trace::kAlignPacked : 0u));
}

// What cannot be run outside the program, or would not take the time there that it takes here.
bool is_foreign(const shim::MemoryInstruction& instruction) {
    return instruction.locked || instruction.string || instruction.gather || instruction.operand_count > 1 ||
           (instruction.operand_count == 1 && (instruction.operands[0].stack || instruction.operands[0].width == 0 ||
                                               instruction.operands[0].segment != shim::Segment::none));
}

// Every instruction between the first and the last runs in every round: no jump but the one at the end, and those that
// leave the loop.
bool is_straight(const CodeRegion& code, std::span<const LoopInstruction> round, uint64_t begin, uint64_t end) {
    uint64_t bytes = 0, last_length = 0;
    for (const LoopInstruction& place : round) {
        bytes += place.instruction.length;
        if (place.address == end)
            last_length = place.instruction.length;
        if (!place.instruction.branch)
            continue;
        const Jump jump = jump_at(place.address, code.bytes_at(place.address).first(place.instruction.length));
        const bool closes = place.address == end && jump.target == begin;
        const bool leaves = jump.conditional && (jump.target < begin || jump.target > end);
        if (jump.target == 0 || !(closes || leaves))
            return false;
    }
    return begin + bytes == end + last_length; // none is left out
}

} // namespace

std::shared_ptr<const ReplayableLoop> ReplayableLoop::follow(const CodeRegion& code, uint64_t sampled) {
    std::vector<LoopInstruction> round = round_of(code, sampled);
    if (round.empty() || round.size() > kMostReplayed)
        return nullptr;
    const auto [first, last] = std::ranges::minmax(round, {}, &LoopInstruction::address);
    if (!is_straight(code, round, first.address, last.address))
        return nullptr;
    std::ranges::sort(round, {}, &LoopInstruction::address); // as they run: it is straight
    auto loop = std::make_shared<ReplayableLoop>();
    loop->begin_ = static_cast<int64_t>(first.address - sampled);
    loop->end_ = static_cast<int64_t>(last.address - sampled);
    uint32_t overwritten = 0;
    for (const LoopInstruction& place : round)
        overwritten |= place.instruction.overwritten;
    for (const LoopInstruction& place : round) {
        const shim::MemoryInstruction& instruction = place.instruction;
        if (instruction.branch)
            continue;
        if (is_foreign(instruction))
            return nullptr;
        ReplayInstruction copy;
        copy.length = instruction.length;
        std::ranges::copy(code.bytes_at(place.address).first(instruction.length), copy.code.begin());
        if (instruction.operand_count == 1) {
            const shim::MemoryOperand& operand = instruction.operands[0];
            AccessPlan plan;
            plan.kind = place.address == sampled ? AccessPlan::Kind::at : AccessPlan::Kind::ahead;
            plan.distance = static_cast<int32_t>(static_cast<int64_t>(place.address - sampled));
            plan.length = instruction.length;
            plan.operand = operand;
            plan.flags = flags_of(instruction, operand);
            if ((general_bit(operand.base) | general_bit(operand.index)) & overwritten) {
                plan.loop = LoopPath::follow(code, sampled, plan);
                if (!plan.loop || plan.loop->chases())
                    return nullptr;
            }
            copy.access = static_cast<int>(loop->accesses_.size());
            loop->accesses_.push_back(std::move(plan));
        }
        loop->instructions_.push_back(copy);
    }
    return loop->accesses_.empty() ? nullptr : loop;
}

std::optional<ReplayableLoop::Moment> ReplayableLoop::at(uint64_t sampled, const shim::Registers& registers) const {
    Moment moment;
    for (const AccessPlan& plan : accesses_) {
        LoopAccess access{plan.instruction(sampled), 0, 0, plan.operand.width, plan.flags};
        if (plan.loop) {
            const auto move = plan.loop->move(registers);
            if (!move)
                return std::nullopt;
            // Of the next round that begins: what is still to come in this one is made once before.
            access.address = move->address + (access.instruction >= sampled ? static_cast<uint64_t>(move->round) : 0);
            access.round = move->round;
            // Of an unrolled loop, all copies: those of one round together make one.
            const uint64_t copies = static_cast<uint64_t>(std::max<int64_t>(move->stride != 0 ? move->round / move->stride : 1, 1));
            moment.rounds_left = std::max(moment.rounds_left, move->to_come / copies);
        } else {
            shim::Registers own;
            std::copy(std::begin(registers), std::end(registers), std::begin(own));
            access.address = plan.address(sampled, own);
        }
        moment.accesses.push_back(access);
    }
    return moment;
}

} // namespace plumb::record
