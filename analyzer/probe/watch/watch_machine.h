// Short probes beside a load, again and again, each with what ran meanwhile.
#pragma once

#include "probe/judge/slowing_programs.h"
#include "probe/measure/measure_machine.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb::probe {

struct WatchOptions {
    ProbeOptions probe; // time_s: of each look
    double every_s = 60, for_s = 0; // for_s 0: until a signal comes
};

struct Watched {
    MachineFacts machine;
    double begin_s = 0, took_s = 0; // since 1970
    double every_s = 0, look_s = 0;
    bool ended_early = false; // by a signal, before the time that was asked for
    std::vector<Look> looks;
    Suspects suspects;
};

// Looks one after the other, until the time is over or a signal comes; the look in which it comes does not count. Throws as
// Prober does.
Watched watch_machine(const WatchOptions& options, EndSignals& signals, const std::function<void(size_t)>& progress);

// How slow the machine was in a short probe: medians over its rounds and CPUs.
std::map<std::string, double> slowness_of(const Measured& measured);

} // namespace plumb::probe
