// Loops in which threads only wait for one another without leaving the CPU: which ones time samples stand in, and at which
// address the variable lies (SpinLoop records).
#pragma once

#include "record/access/sampling/sampled_instructions.h"
#include "record/calibrate/calibration.h"
#include "record/perf/profile.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace plumb::record {

class SpinLoops {
  public:
    SpinLoops(AccessSampling& code, ProcessTable& processes);

    // A sample that stands for `weight_ns` of CPU time; `chain`: outermost frame first; `access`: what its registers tell, null:
    // nothing. About 0.1 us; some ten microseconds when an instruction has been sampled several times, within what
    // AccessSampling allows for new code. Samples in sched_yield count for the instruction that it returns to.
    void take(const PerfRecord& sample, std::span<const CallChain::Step> chain, uint64_t weight_ns, const SampledAccess* access);

    void forget(uint32_t pid) { instructions_.forget(pid); } // it ended: nothing more can come

    // Appends; once, when the program has ended. Measures on this machine what samples do not show of calls that yield, where
    // they show nothing of the kernel.
    void write(NodeTraceWriter& file, Calibration& calibration);

  private:
    struct Accesses { // of one instruction in a loop that only waits
        uint64_t instruction = 0; // that made them
        std::set<uint64_t> addresses;
        uint64_t last_address = 0;
        std::set<uint64_t> looked_at; // variables, by samples in calls that return to the sampled instruction
    };
    using Instructions = SampledInstructions<Accesses>;
    void take_yield(const PerfRecord& sample, std::span<const CallChain::Step> chain, uint64_t weight_ns);
    void judge(uint32_t pid, const Instructions::OfProgram& places);

    AccessSampling& code_;
    Instructions instructions_;
    std::vector<trace::SpinLoop> found_;
    bool saw_kernel_ = false; // samples of it
};

} // namespace plumb::record
