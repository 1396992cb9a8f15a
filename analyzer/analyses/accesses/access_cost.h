// What the unaligned accesses of one instruction cost: penalties of this machine x counts, checked against the time
// that samples saw there.
#pragma once

#include "model/alignment.h"

#include <cstdint>

namespace plumb {

// CPU seconds of all threads, beyond what the same accesses would cost if they were aligned.
struct AccessCost {
    double within_s = 0; // unaligned, but inside a line
    double line_s = 0;   // crossing a line, but no page
    double page_s = 0;   // crossing a page
    double split_lock_s = 0;
    double measured_s = 0; // of the sum, what was measured in place
    // How sure the sum is: as its worst part.
    enum class How { measured, estimated, bound } how = How::estimated;

    double total_s() const { return within_s + line_s + page_s + split_lock_s; }
    double crossing_s() const { return line_s + page_s; }
    void add(const AccessCost& other);
    void scale(double factor);
};

const char* to_string(AccessCost::How how);

struct AccessCounts {
    uint64_t hits = 0;           // unaligned accesses
    uint64_t line_crossings = 0; // of these, page crossings included
    uint64_t page_crossings = 0; // of these
    bool exact = false;          // false: lower bounds
};

// Extra nanoseconds of one access over an aligned one; 0 where the difference is within the noise of the timing or
// was not measured.
struct ExtraTime {
    double aligned_ns = 0, within_ns = 0, line_ns = 0, page_ns = 0;
    double sparse_line_ns = 0; // of a line crossing where most accesses cross none
    bool known = false; // the machine's penalties were measured

    // Of a line crossing, when this share of the accesses crosses a line. Neighbours hide what a crossing costs, unless
    // they cross as well: between one access in eight and all of them, in proportion.
    double line_at(double share) const;
};

ExtraTime extra_time_of(const model::AccessPenalties* penalties, const model::AccessKind& kind);

// Exact counts: each access costs its penalty. Lower bounds: the larger of that and of the penalty's share in
// `sampled_s`, the time samples at the instruction and the one behind it (0: none), when each of its accesses is
// taken to be like those that were caught.
AccessCost cost_of_counts(const ExtraTime& extra, const model::AccessKind& kind, const AccessCounts& counts,
                          double sampled_s);

// Samples of address sampling are weighted by time: the share of samples that cross is the share of the TIME of the
// instruction that crossing accesses took, of which the penalty is a part. But a sweep's first access to a line, which
// waits for the memory, is the crossing one where the sweep is unaligned, and would wait as well if it were aligned: so
// no larger share is taken than that of a sweep in the cache, unless all of many samples cross.
AccessCost cost_of_samples(const ExtraTime& extra, const model::AccessKind& kind, const model::SampledAccess& access);

} // namespace plumb
