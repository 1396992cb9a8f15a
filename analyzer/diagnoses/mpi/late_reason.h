// Why ranks are late, and whether that is known well enough to make a finding of it.
#pragma once

#include "diagnoses/mpi/blocked_lines.h"
#include "diagnoses/mpi/excess_time_lines.h"
#include "diagnoses/mpi/mpi_findings.h"

#include <optional>
#include <string>

namespace plumb {

struct LateReason {
    enum class Kind { computing, irregular, starved, interrupted, blocked, waiting } kind = Kind::computing;
    bool by_lines = false;  // the lines of ExcessTimeLines or BlockedLines say where; else the MPI calls that it came late to
    bool same_work = false; // the usual rank does it, too: a larger part of the same work
    bool may_be_slower = false; // it is busy longer on the same lines as all others, but not so much that it surely has more to do

    const char* name() const;                  // stable, for JSON
    std::string words(bool one, const BlockedLines& blocked) const; // "it computes more than the others"
    bool is_own_work() const { return kind == Kind::computing || kind == Kind::irregular; }
    bool lacks_cpu() const { return kind == Kind::starved || kind == Kind::interrupted; }
};

// Collectives show too little of what the others wait for: they wait for messages.
bool is_known_by_messages(const LateRanks& late);

// The lateness of all of them by its reasons. Of ranks that are known by messages, of those that hide behind later ones, and
// where they cost more than collectives show, nothing but their sums is known: whether they compute, lack CPUs or are blocked more than the median of the others.
model::MpiLateness lateness_of(const model::MpiJob& job, const LateRanks& late);

// Nothing where the greatest part has no known reason, where it makes up less than half of the lateness or that little of the cost, and where ranks
// are busy longer on the same lines as all others by less than CPUs of one node may differ.
// `cost_s`: their part of the cost.
std::optional<LateReason> late_reason(const model::Run& run, const model::MpiJob& job, const LateRanks& late, double cost_s,
                                      const model::MpiLateness& lateness, const ExcessTimeLines& extra,
                                      const BlockedLines& blocked);

} // namespace plumb
