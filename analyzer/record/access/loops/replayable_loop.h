// A loop that can be run again outside its program: straight code that comes back to its beginning, all of whose accesses are
// known from the registers of one sample.
#pragma once

#include "record/access/code/access_rule.h"
#include "record/access/code/code_region.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace plumb::record {

// An access of the loop at the moment of a sample: where the next round that begins makes it, and how far it moves from round to
// round.
struct LoopAccess {
    uint64_t instruction = 0; // address
    uint64_t address = 0;
    int64_t round = 0;        // bytes; 0: it stays where it is
    uint16_t width = 0;       // bytes
    uint16_t flags = 0;       // trace::AlignFlags
    bool operator==(const LoopAccess&) const = default;
};

// One instruction, without the jumps.
struct ReplayInstruction {
    std::array<uint8_t, 15> code{};
    uint8_t length = 0;
    int access = -1; // index into the accesses of the moment; -1: it touches no memory
};

// Kept free of addresses, as AccessPlan is.
class ReplayableLoop {
  public:
    // Null: no innermost loop is around it, or it branches, calls, or has an access whose address is not known from registers.
    static std::shared_ptr<const ReplayableLoop> follow(const CodeRegion& code, uint64_t sampled);

    struct Moment {
        std::vector<LoopAccess> accesses; // in the order of the instructions
        uint64_t rounds_left = 0;         // until the loop ends, with the one under way; 0: not known
    };
    // `sampled`: the address of the instruction. Nothing: the address of some access is not known from these registers.
    std::optional<Moment> at(uint64_t sampled, const shim::Registers& registers) const;

    const std::vector<ReplayInstruction>& instructions() const { return instructions_; } // by address
    uint64_t begin(uint64_t sampled) const { return sampled + static_cast<uint64_t>(begin_); } // first instruction
    uint64_t end(uint64_t sampled) const { return sampled + static_cast<uint64_t>(end_); }     // last one

  private:
    std::vector<ReplayInstruction> instructions_;
    std::vector<AccessPlan> accesses_; // without a loop: the address is the same in every round
    int64_t begin_ = 0, end_ = 0;      // bytes from the sampled instruction
};

} // namespace plumb::record
