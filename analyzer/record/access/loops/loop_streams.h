// Everything that a loop accesses, at the moment of a time sample inside it: where each access stands and how far it moves
// in one round of the loop, computed from the registers and the loop's code.
#pragma once

#include "record/access/code/access_rule.h"
#include "record/access/code/code_region.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plumb::record {

// Added to the address of an instruction to tell its second access from its first.
inline constexpr uint64_t kSecondAccess = uint64_t{1} << 62;

struct StreamPosition {
    uint64_t instruction = 0; // address, see kSecondAccess
    uint64_t address = 0;     // of the next access that it makes
    int64_t round = 0;        // bytes from there to where the next round of the loop accesses
    uint16_t width = 0;       // bytes
    bool load = false, store = false;
    bool past_caches = false; // a store that does not read the line first
};

// The innermost loop around one instruction. Kept free of addresses, as AccessPlan is.
class LoopStreams {
  public:
    // Null: it stands in no loop that can be followed (ways are chosen as in loop_path.h), or none of the loop's accesses
    // moves in a way that registers can tell. A repeated string instruction is a loop of its own.
    static std::shared_ptr<const LoopStreams> follow(const CodeRegion& code, uint64_t sampled);

    // By instruction. Accesses that stay where they are, or that these registers do not give, are left out. `sampled`: the
    // address of the instruction. About 0.2 us for each access.
    std::vector<StreamPosition> at(uint64_t sampled, const shim::Registers& registers) const;

    uint64_t begin(uint64_t sampled) const { return sampled + static_cast<uint64_t>(begin_); } // first instruction
    uint64_t end(uint64_t sampled) const { return sampled + static_cast<uint64_t>(end_); }     // last one

  private:
    struct Access {
        AccessPlan plan;
        bool past_caches = false, repeated = false, is_second = false;
    };
    std::vector<Access> accesses_; // by instruction
    int64_t begin_ = 0, end_ = 0;  // bytes from the sampled instruction
};

} // namespace plumb::record
