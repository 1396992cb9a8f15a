// The innermost loops that a run spent its time in, as their machine code shows them.
#pragma once

#include "analyses/lines/line_shares.h"
#include "code/compiler.h"
#include "code/loop_facts.h"
#include "code/scalar_cause.h"
#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct SampledLoop {
    size_t process = 0; // index into Run::processes: one that ran it
    std::string module, function; // path of the file; name
    code::LoopFacts facts;        // addresses as in `process`
    code::Compiler compiler;
    code::LoopSurroundings around;
    std::vector<std::string> callees; // names; empty ones are not known
    uint64_t samples = 0;
    double time_ns = 0;  // with the instruction in the loop, all processes
    double under_ns = 0; // and in what it calls
    LineShares lines;
};

// Those with at least `least_share` of the sampled time, with what they call, the costliest first. Empty without a decoder.
std::vector<SampledLoop> sampled_loops_of(model::CallPaths& paths, double least_share);

} // namespace plumb
