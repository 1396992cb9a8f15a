// Lengths at which losses pile up far above the lengths around them.
#pragma once

#include "noise/loss_streams.h"

#include <vector>

namespace plumb::noise {

// Lengths that pile up between two valleys.
struct Pile {
    LengthBand band;
    double count = 0, expected = 0; // losses in it, and as many as there would be at the density of its higher valley
    double others = 0;              // and as there would be at that of the lower
};

// Of what is not explained, the highest first; they do not overlap. The falling density of random short losses is no pile, nor
// is the edge at the shortest length that was measured.
std::vector<Pile> length_piles(const LossStreams& streams);

} // namespace plumb::noise
