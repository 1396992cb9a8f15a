// What a reader of a simulated run has to know of it.
#pragma once

#include "simulate/study.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb {

// How the simulation of a recorded job stands beside the recording.
struct BesideRecording {
    double step_s = 0, simulated_step_s = 0;     // mean length of a step
    double waited_s = 0, simulated_waited_s = 0; // for which a rank waited for others in it
    double difference() const { return waited_s > 0 ? simulated_waited_s / waited_s - 1 : 0; } // of the waiting
    // Both within a tenth; waiting that differs by a hundredth of a step is not worth a word.
    bool agrees() const;
};

// Of the recorded granularity; nothing where it was not simulated, or with the noise of another machine.
std::optional<BesideRecording> beside_recording(const simulate::Study& study);

// Who took how much CPU time from the ranks of a recorded job, and in what rhythm; the most first.
std::vector<std::string> taker_sentences(const simulate::Study& study);

// What the simulation leaves out of a recorded job, one sentence each; what makes the most first.
std::vector<std::string> missing_in_simulation(const simulate::Study& study);

} // namespace plumb
