// All that a report shows of one probe.
#pragma once

#include "probe/judge/against.h"
#include "probe/judge/shared_paths.h"
#include "probe/judge/slow_cpus.h"

#include <optional>

namespace plumb::probe {

struct ProbeOutcome {
    Measured measured;
    double limit = 0.1;
    std::vector<Figure> figures;
    std::vector<SlowCpu> slow;
    std::vector<PairFigures> pairs;
    SharedPaths shared;
    std::vector<Disagreement> disagreements;
    std::optional<Against> against;
    std::string history_file; // empty: not kept
    int64_t history_id = 0;

    bool is_sick() const { return !slow.empty() || (against && against->is_slower()); }
};

// `kernel`: what it says of these CPUs.
ProbeOutcome judge(Measured measured, const std::vector<platform::CpuPath>& kernel, double limit);

// As it is kept; without an id.
EarlierProbe record_of(const ProbeOutcome& outcome);

} // namespace plumb::probe
