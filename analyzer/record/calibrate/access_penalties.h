// What unaligned accesses cost on this machine: a calibration of a few milliseconds.
#pragma once

#include <plumb/trace_format.h>

#include <string>

namespace plumb::record {

// Times loops of independent accesses to memory in the first-level cache, in which all accesses are of the same kind; and
// sweeps through a page, in which one unaligned access of eight crosses a line and its neighbours hide some of that. Each figure is the least of several
// repetitions, so that a busy machine matters little. x86-64: loops in assembler. Elsewhere: volatile accesses through
// a type without alignment, which is one instruction where the architecture allows unaligned accesses at all.
//
// `with_split_locks`: times at most 20 split locks too, in a child process, because the kernel may end who makes one;
// it may also slow the child down for a moment or write a line into its log, so only runs that have made some should
// ask. Figures that cannot be measured are 0. `split_lock_setting` of the result is left 0: the text has no place here.
trace::AccessPenalty measure_access_penalties(bool with_split_locks);

// What a run's own records say about the need for it.
struct CalibrationNeed {
    bool unaligned = false; // an AlignSite
    bool locked = false;    // one of a locked operation
};

// Looks through the trace files that processes of the run have written into `run_directory`. Damaged files are taken as
// far as they are whole.
CalibrationNeed calibration_need(const std::string& run_directory);

} // namespace plumb::record
