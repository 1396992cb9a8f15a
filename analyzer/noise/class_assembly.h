// Makes a class of what was found on a part of the machine: looks for its events on all nodes, and marks them as explained.
#pragma once

#include "noise/loss_streams.h"
#include "noise/period_search.h"

#include <optional>

namespace plumb::noise {

struct MachineSize {
    uint32_t nodes = 0, cpus_per_node = 0;
};

struct FoundClass {
    model::NoiseClass noise; // without a name
    double loss_s = 0;       // of its events
};

// Nothing where the whole machine's losses do not bear out what a part of them seemed to show.
std::optional<FoundClass> assemble_periodic(LossStreams& streams, const FoundPeriod& found, MachineSize machine);

// That `events` happen on some of the CPUs of a node only: not by chance.
bool is_choice_of_cpus(size_t cpus, uint32_t of, double events);

// A long event's loss also holds the shorter ones that begin during it. Takes from the duration what was measured of these in as long
// a time, at other moments, on the same CPUs (places in streams(Level::cpu)). `own`: the lengths that the class itself has.
void subtract_others(const LossStreams& streams, model::NoiseDuration& duration, LengthBand own, const std::vector<size_t>& cpus);

// Of events of the class, the share that no other loss lengthens out of the band, at random moments.
double share_undisturbed(const LossStreams& streams, LengthBand band, double length_s, const std::vector<size_t>& cpus);

// Its phase, of its events by node: whether other nodes' events come at the same moments.
model::NoiseClass::Phase phase_of(const std::vector<std::vector<double>>& begins_of_nodes_s, double window_s, double measured_s);

} // namespace plumb::noise
