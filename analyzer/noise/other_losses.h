// What happens on the same CPUs beside the events of one class, and how it changes what is seen of them.
#pragma once

#include "noise/loss_streams.h"

#include <cstddef>
#include <vector>

namespace plumb::noise {

// A long event's loss also holds the shorter ones that begin during it. Takes from the duration what was measured of these in
// as long a time, at other moments, on the same CPUs (places in streams(Level::cpu)). `own`: the lengths that the class itself
// has.
void subtract_others(const LossStreams& streams, model::NoiseDuration& duration, LengthBand own,
                     const std::vector<size_t>& cpus);

// Of events of the class, the share that no other loss lengthens out of the band, at random moments.
double share_undisturbed(const LossStreams& streams, LengthBand band, double length_s, const std::vector<size_t>& cpus);

} // namespace plumb::noise
