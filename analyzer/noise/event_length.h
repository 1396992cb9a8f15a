// How long the events of a program are that drives threads to other CPUs: what these lose on its CPU is only a part of them.
#pragma once

#include "model/noise.h"

namespace plumb::noise {

// Seconds, of a class with nearly all that this one program took. The median of the class's events that drove no thread away, where
// there are three; else from the CPU time that the program used, between what the threads lost on its CPU and that and all their turns
// on other CPUs.
double event_length_s(const model::NoiseTaker& taker, const model::NoiseClass& of_it);

} // namespace plumb::noise
