#include "record/access/loops/loop_round.h"

namespace plumb::record {

std::vector<LoopInstruction> round_of(const CodeRegion& code, uint64_t sampled) {
    constexpr size_t kMostInstructions = 512;
    std::vector<LoopInstruction> round;
    if (!code.is_in_loop(sampled))
        return round;
    uint64_t address = sampled;
    while (round.size() < kMostInstructions && (round.empty() || address != sampled)) {
        LoopInstruction place{address, {}};
        if (!code.decode_at(address, &place.instruction))
            return {};
        const auto own = code.bytes_at(address).first(place.instruction.length);
        const Jump jump = jump_at(address, own);
        if (place.instruction.branch && jump.target == 0 && !is_call(own))
            return {};
        round.push_back(place);
        const bool encloses = jump.target != 0 && jump.target <= sampled && sampled <= address;
        const bool is_taken = jump.target != 0 && (!jump.conditional || encloses);
        address = is_taken ? jump.target : address + place.instruction.length;
    }
    return address == sampled ? round : std::vector<LoopInstruction>{};
}

} // namespace plumb::record
