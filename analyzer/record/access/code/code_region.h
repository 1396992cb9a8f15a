// A stretch of machine code cut into instructions. x86-64 code cannot be read backwards: to know what stands before an
// instruction, decode from a place that is known to begin one, such as the start of its function. A64 code can.
#pragma once

#include "platform/code/memory_instruction.h" // of the shim: one decoder for both sides

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace plumb::record {

// Where a jump with a distance in it goes.
struct Jump {
    uint64_t target = 0; // 0: not such a jump (a call, a return, through a register or memory)
    bool conditional = false;
};
Jump jump_at(uint64_t address, std::span<const uint8_t> instruction);
bool is_call(std::span<const uint8_t> instruction);

class CodeRegion {
  public:
    // `code` begins at `address` of the process with the first byte of an instruction; it is cut where something does
    // not decode. The decoder must be loaded.
    static CodeRegion from_boundary(uint64_t address, std::vector<uint8_t> code);

    // `code` begins anywhere; `sure`, an address inside, begins an instruction. Decoding from a wrong place falls in
    // step with the true instructions after a few of them, so that among all the first places most agree before long:
    // what most of them find before `sure` is taken, and nothing before `sure` when they do not agree.
    static CodeRegion around(uint64_t address, std::vector<uint8_t> code, uint64_t sure);

    uint64_t start() const { return start_; }
    uint64_t end() const { return start_ + code_.size(); }
    bool begins_instruction(uint64_t address) const;

    // The instruction before the one at `address`; 0 when it is not known, or when `address` is where a loop begins, so
    // that what stands before it is not what ran before it.
    uint64_t before(uint64_t address) const;

    // Whether some later instruction jumps back over it: without one, what runs there does not come back by itself.
    bool is_in_loop(uint64_t address) const;

    struct Loop {
        uint64_t head = 0, jump = 0; // addresses: of the instruction that a later one, the jump, goes back to
    };
    std::vector<Loop> loops_around(uint64_t address) const; // the shortest first

    std::span<const uint8_t> bytes_at(uint64_t address) const; // to the region's end; empty outside

    // The decoded instruction there; false: outside, or none. Kept: a loop is followed once for each of its accesses and each
    // address that was sampled in it.
    bool decode_at(uint64_t address, shim::MemoryInstruction* instruction) const;

    size_t memory() const; // bytes, about

  private:
    CodeRegion(uint64_t start, std::vector<uint8_t> code) : start_(start), code_(std::move(code)) {}
    void cut_from(uint32_t offset);
    void find_loops();

    uint64_t start_;
    std::vector<uint8_t> code_;
    std::vector<uint32_t> offsets_;    // of the instructions from start_, ascending
    struct LoopOffsets {
        uint32_t head, jump;
    };
    std::vector<LoopOffsets> loops_; // by head; of those with the same one the longest
    mutable std::unordered_map<uint64_t, shim::MemoryInstruction> decoded_; // by address
};

} // namespace plumb::record
