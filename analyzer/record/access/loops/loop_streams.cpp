#include "record/access/loops/loop_streams.h"

#include "record/access/loops/loop_path.h"
#include "record/access/loops/loop_round.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <span>

namespace plumb::record {

namespace {

constexpr size_t kMostAccesses = 48;

// MOVNTI, MOVNTPS, MOVNTPD, MOVNTDQ and their VEX and EVEX forms (Intel's manual, volume 2).
bool goes_past_caches(std::span<const uint8_t> instruction) {
    if (shim::kDecodesA64)
        return false; // stnp is no more than a hint
    size_t at = 0;
    while (at < instruction.size() && (instruction[at] == 0x66 || instruction[at] == 0xf2 || instruction[at] == 0xf3))
        ++at;
    if (at < instruction.size() && (instruction[at] & 0xf0) == 0x40)
        ++at; // REX
    const auto byte = [&](size_t i) { return at + i < instruction.size() ? instruction[at + i] : uint8_t{0}; };
    uint8_t opcode = 0;
    bool is_vector = true;
    if (byte(0) == 0x0f) {
        opcode = byte(1);
        is_vector = false;
    } else if (byte(0) == 0xc5) {
        opcode = byte(2);
    } else if (byte(0) == 0xc4 && (byte(1) & 0x1f) == 1) {
        opcode = byte(3);
    } else if (byte(0) == 0x62 && (byte(1) & 0x07) == 1) {
        opcode = byte(4);
    }
    return opcode == 0x2b || opcode == 0xe7 || (opcode == 0xc3 && !is_vector);
}

} // namespace

std::shared_ptr<const LoopStreams> LoopStreams::follow(const CodeRegion& code, uint64_t sampled) {
    auto loop = std::make_shared<LoopStreams>();
    const auto add = [&](const LoopInstruction& place, int number) {
        const shim::MemoryOperand& operand = place.instruction.operands[number];
        Access access;
        access.is_second = number > 0;
        access.plan.kind = place.address == sampled ? AccessPlan::Kind::at : AccessPlan::Kind::ahead;
        access.plan.distance = static_cast<int32_t>(static_cast<int64_t>(place.address - sampled));
        access.plan.length = place.instruction.length;
        access.plan.operand = operand;
        access.plan.flags = static_cast<uint16_t>((operand.load ? trace::kAlignLoad : 0u) |
                                                  (operand.store ? trace::kAlignStore : 0u));
        access.past_caches = operand.store && !operand.load &&
                             goes_past_caches(code.bytes_at(place.address).first(place.instruction.length));
        loop->accesses_.push_back(std::move(access));
        return &loop->accesses_.back();
    };

    shim::MemoryInstruction own;
    if (!code.decode_at(sampled, &own))
        return nullptr;
    if (own.string && own.repeated) {
        for (int i = 0; i < own.operand_count; ++i) {
            Access* access = add({sampled, own}, i);
            access->repeated = true;
            access->past_caches = own.operands[i].store; // fast strings write whole lines without reading them
        }
        return loop;
    }

    const std::vector<LoopInstruction> round = round_of(code, sampled);
    if (round.empty())
        return nullptr;
    for (const LoopInstruction& place : round) {
        const int64_t distance = static_cast<int64_t>(place.address - sampled);
        loop->begin_ = std::min(loop->begin_, distance);
        loop->end_ = std::max(loop->end_, distance);
        for (int i = 0; i < place.instruction.operand_count; ++i) {
            const shim::MemoryOperand& operand = place.instruction.operands[i];
            const bool moves = operand.base != shim::kNextInstruction &&
                               (operand.base != shim::kNoRegister || operand.index != shim::kNoRegister);
            if (!(operand.load || operand.store) || operand.stack || operand.segment != shim::Segment::none || !moves ||
                loop->accesses_.size() >= kMostAccesses)
                continue;
            Access* access = add(place, i);
            access->plan.loop = LoopPath::follow(code, sampled, access->plan);
            if (!access->plan.loop)
                loop->accesses_.pop_back();
        }
    }
    std::ranges::stable_sort(loop->accesses_, {}, [](const Access& access) { return access.plan.distance; });
    return loop->accesses_.empty() ? nullptr : loop;
}

std::vector<StreamPosition> LoopStreams::at(uint64_t sampled, const shim::Registers& registers) const {
    std::vector<StreamPosition> positions;
    for (const Access& access : accesses_) {
        const shim::MemoryOperand& operand = access.plan.operand;
        StreamPosition position{access.plan.instruction(sampled) + (access.is_second ? kSecondAccess : 0), 0, 0, operand.width, operand.load, operand.store,
                                access.past_caches};
        if (access.repeated) {
            position.address = shim::operand_address(operand, registers, 0);
            position.round = operand.width;
        } else if (const auto move = access.plan.loop->move(registers)) {
            position.address = move->address;
            position.round = move->round;
        } else {
            continue;
        }
        positions.push_back(position);
    }
    std::ranges::stable_sort(positions, {}, &StreamPosition::instruction);
    return positions;
}

} // namespace plumb::record
