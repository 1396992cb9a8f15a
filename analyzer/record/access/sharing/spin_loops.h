// Loops in which threads only wait for one another without leaving the CPU: which ones time samples stand in, and at which
// address the variable lies (SpinLoop records).
#pragma once

#include "record/access/sampling/access_sampling.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class SpinLoops {
  public:
    SpinLoops(AccessSampling& code, ProcessTable& processes) : code_(code), processes_(processes) {}

    // A sample that stands for `weight_ns` of CPU time; `access`: what its registers tell, null: nothing. About 0.1 us; some
    // ten microseconds when an instruction has been sampled several times, within what AccessSampling allows for new code.
    void take(const PerfRecord& sample, uint64_t weight_ns, const SampledAccess* access);

    void forget(uint32_t pid); // it ended: nothing more can come

    void write(NodeTraceWriter& file); // appends; once, when the program has ended

  private:
    struct Place { // a sampled instruction
        uint64_t samples = 0, time_ns = 0, first_ns = 0, last_ns = 0;
        bool is_known = false;         // the code around it was looked at
        std::optional<WaitLoop> loop;  // that it is in, if that only waits
        uint64_t instruction = 0;      // that made the accesses
        std::set<uint64_t> addresses;  // of them
        uint64_t last_address = 0;
    };
    struct Program { // one image of a process
        uint64_t generation = 0;
        size_t looked_at = 0;                       // places whose code was looked at
        std::unordered_map<uint64_t, Place> places; // by address
    };
    void judge(uint32_t pid, const Program& program);

    AccessSampling& code_;
    ProcessTable& processes_;
    std::unordered_map<uint32_t, Program> programs_; // by pid
    std::vector<trace::SpinLoop> found_;
};

} // namespace plumb::record
