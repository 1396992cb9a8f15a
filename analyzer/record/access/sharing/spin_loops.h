// Loops in which threads only wait for one another without leaving the CPU: which ones time samples stand in, and at which
// address the variable lies (SpinLoop records).
#pragma once

#include "record/access/sampling/sampled_instructions.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <set>
#include <vector>

namespace plumb::record {

class SpinLoops {
  public:
    SpinLoops(AccessSampling& code, ProcessTable& processes);

    // A sample that stands for `weight_ns` of CPU time; `access`: what its registers tell, null: nothing. About 0.1 us; some
    // ten microseconds when an instruction has been sampled several times, within what AccessSampling allows for new code.
    void take(const PerfRecord& sample, uint64_t weight_ns, const SampledAccess* access);

    void forget(uint32_t pid) { instructions_.forget(pid); } // it ended: nothing more can come

    void write(NodeTraceWriter& file); // appends; once, when the program has ended

  private:
    struct Accesses { // of one instruction in a loop that only waits
        uint64_t instruction = 0; // that made them
        std::set<uint64_t> addresses;
        uint64_t last_address = 0;
    };
    using Instructions = SampledInstructions<Accesses>;
    void judge(uint32_t pid, const Instructions::OfProgram& places);

    Instructions instructions_;
    std::vector<trace::SpinLoop> found_;
};

} // namespace plumb::record
