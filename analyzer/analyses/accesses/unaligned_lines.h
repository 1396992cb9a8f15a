// The unaligned accesses of a whole run by line of the user's code: what the trap caught and what address sampling
// saw, with the data they touched, the reason, and their cost.
#pragma once

#include "analyses/accesses/access_cost.h"
#include "analyses/accesses/touched_data.h"
#include "analyses/accesses/why_unaligned.h"
#include "analyses/statements.h"
#include "model/call_paths.h"

#include <vector>

namespace plumb {

struct AccessObject {
    TouchedData data;
    Misalignment cause;
    double share = 0; // of the line's accesses whose address was kept, 0..1
};

// All accesses of one kind in one function on behalf of one line, whatever instructions, threads and processes made
// them.
struct AccessLine {
    model::SourceFrame frame;
    std::string leaf_function, leaf_module; // of the instructions; others than the frame's: something that it calls
    model::AccessKind kind;
    std::vector<AccessObject> objects; // by share; empty: no address was kept
    AccessCounts counts;               // of the trap; no hits: seen by address sampling only
    uint64_t samples = 0;              // of address sampling, weighted by time
    uint64_t sampled_unaligned = 0, sampled_line_crossings = 0, sampled_page_crossings = 0;
    size_t instructions = 0, threads = 0, processes = 0;
    bool priced = false; // the machine's penalties are known
    AccessCost cost;     // never more than the time samples of the line, or of its loop, allow, when the run was sampled
    const model::ReplayedAccess* replayed = nullptr; // the cost, or some of it, is from a replay of this access's loop

    bool trapped() const { return counts.hits > 0; }
    // "opal_progress of libopen-pal.so.40" where that is not the line's own code; else empty.
    std::string called_code() const;
    // Share of the accesses that cross a line: of the caught ones, else of the samples.
    double crossing_share() const;
};

struct UnalignedAccesses {
    std::vector<AccessLine> lines; // by cost, then number
    const model::AccessPenalties* penalties = nullptr; // of the first host that has some
    bool trap_ran = false, exact = false; // exact: wherever the trap ran, every hit was counted
    uint64_t excluded_hits = 0, lost_hits = 0;
    double trap_s = 0; // CPU time of the run that traps and rewritten code took, estimated
};

UnalignedAccesses unaligned_accesses_of(model::CallPaths& paths);

// As a part of the run without the time that traps and rewritten code took.
Cost run_cost(const AccessCost& cost, const UnalignedAccesses& accesses, const model::Run& run);

} // namespace plumb
