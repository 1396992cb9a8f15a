// How the simulation of a recorded job stands beside the recording.
#pragma once

#include "simulate/study.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb {

struct BesideRecording {
    double step_s = 0, simulated_step_s = 0;     // mean length of a step
    double waited_s = 0, simulated_waited_s = 0; // for which a rank waited for others in it
    // Both within a tenth; waiting that differs by a hundredth of a step is not worth a word.
    bool agrees() const;
};

// Of the recorded granularity; nothing where it was not simulated, or with the noise of another machine.
std::optional<BesideRecording> beside_recording(const simulate::Study& study);

std::string difference_words(double recorded, double simulated); // "+3.1 %"
inline constexpr const char* kNotBesideRecording = "not comparable: it had other work in a step, or another noise";

// Who took how much CPU time from the ranks of a recorded job, and in what rhythm; the most first.
std::vector<std::string> taker_sentences(const simulate::Study& study);

// What the simulation leaves out of a recorded job, one sentence each; what makes the most first.
std::vector<std::string> missing_in_simulation(const simulate::Study& study);

} // namespace plumb
