// Loops in which some accesses cross lines or pages, and what that costs in place. During the run: in which loops time samples
// stand, where their accesses lie at some moments, and how many rounds they make. After it: such loops run again on memory of
// plumb's own, as they were and with aligned data (ReplayedAccess records).
#pragma once

#include "record/access/sampling/access_sampling.h"
#include "record/calibrate/calibration.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class LoopCrossings {
  public:
    LoopCrossings(AccessSampling& code, ProcessTable& processes) : code_(code), processes_(processes) {}

    // A sample that stands for `weight_ns` of CPU time. About 0.1 us; some ten microseconds for each access of a loop when it
    // has been sampled several times, within what AccessSampling allows for new code.
    void take(const PerfRecord& sample, uint64_t weight_ns);

    void forget(uint32_t pid); // it ended: nothing more can come

    // Replays and appends. Once, when the program has ended; takes a millisecond or two for each loop, some hundred at most, and
    // nothing where there is none.
    void write(NodeTraceWriter& file, Calibration& calibration);

  private:
    struct Counted {
        LoopCounter counter;
        std::vector<RoundPair> pairs;
    };
    struct Place { // a sampled instruction
        uint64_t samples = 0, time_ns = 0, first_ns = 0, last_ns = 0;
        bool is_known = false; // `loop` was looked for
        std::shared_ptr<const LoopCode> code; // null: none that can be replayed
        std::vector<ReplayableLoop::Moment> moments; // an even choice
        uint64_t rounds_left = 0;                    // the most that were seen, 0: not known
        std::vector<Counted> counted;                // by loop around it, the innermost first
    };
    struct Program { // one image of a process
        uint64_t generation = 0;
        size_t looked_at = 0;                       // places whose code was looked at
        std::unordered_map<uint64_t, Place> places; // by address
    };
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
    static void count_rounds(const Last& before, const PerfRecord& sample, const shim::Registers& registers, Place& place);
    uint64_t round_ps(const Program& program, const Candidate& candidate) const;
    void judge(uint32_t pid, const Program& program);
    void replay(const Candidate& candidate, uint32_t number, NodeTraceWriter& file) const;

    AccessSampling& code_;
    ProcessTable& processes_;
    std::unordered_map<uint32_t, Program> programs_; // by pid
    std::unordered_map<uint32_t, Last> last_;        // by tid
    std::vector<Candidate> candidates_;
    uint64_t total_ns_ = 0, random_ = 88172645463325252;
};

} // namespace plumb::record
