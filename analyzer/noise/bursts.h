// A daemon that works for 20 ms on a CPU that a program wants as well gets it in slices, between which the program goes on: several
// losses, one event.
#pragma once

#include "model/noise.h"

namespace plumb::noise {

// For how long the program may have had the CPU between two slices of one event. Who waits for a CPU gets it after the others had
// their turns: three times the longest slice so far, and where that is long enough to have been cut off by a scheduler (0.5 ms), at
// least 5 ms, a tick of the kernel's and a part of one. (Linux switches at ticks of 1, 4 or 10 ms; for the last the bound is narrow.)
double longest_turn_s(double longest_slice_s);

// Too short to be a slice of the event: somebody else's turn, of whom nothing is to follow.
bool is_beside(double slice_s, double longest_slice_s);

// Which slices belong together, one after the other.
class SliceFollower {
  public:
    enum class Place {
        begins,         // an event
        goes_on,        // with the last one
        goes_on_beside, // is_beside()
    };
    // `turn_s`: for how long the program had the CPU since the last slice that began an event or went on with it.
    Place next(double turn_s, double slice_s);

  private:
    double longest_s_ = 0; // slice of the event; 0: there is none
};

// Slices of one event as one loss: its length is the sum of theirs. `losses`: by node, CPU and begin.
model::NoiseLosses join_bursts(const model::NoiseLosses& losses);

} // namespace plumb::noise
