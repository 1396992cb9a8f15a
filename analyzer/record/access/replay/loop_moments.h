// The loops in which time samples stand, where their accesses lie at some moments, and how many rounds they make: what it takes to run
// them again.
#pragma once

#include "record/access/sampling/sampled_instructions.h"
#include "support/xorshift.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plumb::record {

struct MomentsOfLoop {
    uint32_t pid = 0;
    uint64_t begin = 0, end = 0; // of the loop
    uint64_t samples = 0, time_ns = 0, first_ns = 0, last_ns = 0;
    std::shared_ptr<const LoopCode> code; // of the instruction that was sampled most
    std::vector<ReplayableLoop::Moment> moments; // an even choice
    uint64_t rounds_at_once = 0, round_ps = 0;   // 0: not known

    const std::vector<ReplayInstruction>& instructions() const { return code->loop->instructions(); }
    uint64_t sweep_rounds() const;    // of a sweep over its memory, as far as samples saw it
    uint64_t footprint_bytes() const; // of all accesses, in a sweep
};

class LoopMoments {
  public:
    LoopMoments(AccessSampling& code, ProcessTable& processes);

    // A sample that stands for `weight_ns` of CPU time. About 0.1 us; some ten microseconds for each access of a loop when it
    // has been sampled several times, within what AccessSampling allows for new code.
    void take(const PerfRecord& sample, uint64_t weight_ns);

    void forget(uint32_t pid) { instructions_.forget(pid); } // it ended: nothing more can come

    // Once, when the program has ended: those with at least a hundredth of the sampled time, the costliest first.
    std::vector<MomentsOfLoop> take_all();

  private:
    struct Moments { // of a sampled instruction
        std::vector<ReplayableLoop::Moment> moments; // an even choice
        uint64_t rounds_left = 0;                    // the most that were seen, 0: not known
        std::vector<std::vector<RoundPair>> counted; // by counter of its code
    };
    using Instructions = SampledInstructions<Moments>;
    struct Last { // sample of a thread in a loop that is known
        uint64_t time_ns = 0, generation = 0, address = 0;
        uint64_t cpu_ns = 0; // that the thread's samples since then stand for
        std::array<uint64_t, shim::kRegisterCount> registers{};
    };
    static void count_rounds(const Last& before, const PerfRecord& sample, const shim::Registers& registers,
                             Instructions::Instruction& place);
    static uint64_t round_ps(const Instructions::OfProgram& places, const MomentsOfLoop& loop);
    void judge(uint32_t pid, const Instructions::OfProgram& places);

    Instructions instructions_;
    std::unordered_map<uint32_t, Last> last_; // by tid
    std::vector<MomentsOfLoop> loops_;
    Xorshift random_;
};

} // namespace plumb::record
