// Loops in which some accesses cross lines or pages, and what that costs in place. During the run: in which loops time samples
// stand, where their accesses lie at some moments, and how many rounds they make. After it: such loops run again on memory of
// plumb's own, as they were and with aligned data (ReplayedAccess records).
#pragma once

#include "record/access/sampling/sampled_instructions.h"
#include "record/calibrate/calibration.h"
#include "record/run/node_trace_writer.h"
#include "support/xorshift.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class LoopCrossings {
  public:
    LoopCrossings(AccessSampling& code, ProcessTable& processes);

    // A sample that stands for `weight_ns` of CPU time. About 0.1 us; some ten microseconds for each access of a loop when it
    // has been sampled several times, within what AccessSampling allows for new code.
    void take(const PerfRecord& sample, uint64_t weight_ns);

    void forget(uint32_t pid) { instructions_.forget(pid); } // it ended: nothing more can come

    // Replays and appends. Once, when the program has ended; takes a millisecond or two for each loop, some hundred at most, and
    // nothing where there is none.
    void write(NodeTraceWriter& file, Calibration& calibration);

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
    struct Candidate {
        uint32_t pid = 0;
        uint64_t begin = 0, end = 0; // of the loop
        uint64_t samples = 0, time_ns = 0, first_ns = 0, last_ns = 0;
        std::shared_ptr<const LoopCode> code; // of the instruction that was sampled most
        std::vector<ReplayableLoop::Moment> moments;
        uint64_t rounds_at_once = 0, round_ps = 0; // 0: not known
    };
    static void count_rounds(const Last& before, const PerfRecord& sample, const shim::Registers& registers,
                             Instructions::Instruction& place);
    static uint64_t round_ps(const Instructions::OfProgram& places, const Candidate& candidate);
    void judge(uint32_t pid, const Instructions::OfProgram& places);
    void replay(const Candidate& candidate, uint32_t number, NodeTraceWriter& file) const;

    Instructions instructions_;
    std::unordered_map<uint32_t, Last> last_; // by tid
    std::vector<Candidate> candidates_;
    Xorshift random_;
};

} // namespace plumb::record
