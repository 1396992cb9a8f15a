// Losses of a part of the machine, as many as it takes to see what they have in common.
#pragma once

#include "noise/loss_streams.h"

#include <vector>

namespace plumb::noise {

// Events of some nodes, by the CPU or node whose they are.
struct Sample {
    std::vector<size_t> ends; // of each CPU or node
    std::vector<double> begins_s;
    std::vector<float> lengths_s;
};

// Places in streams(Level::node), in an order that is random and the same each time, until these nodes have `enough` events in
// the band.
std::vector<size_t> choose_nodes(const LossStreams& streams, LengthBand band, size_t enough);

// Of what is not explained.
Sample sample_of(const LossStreams& streams, const std::vector<size_t>& nodes, LossStreams::Level level, LengthBand band);

} // namespace plumb::noise
