// A measurement of noise in words, for all forms of the report.
#pragma once

#include "analyses/noise/noise_summary.h"

#include <string>
#include <vector>

namespace plumb {

// "The CPUs lose 5.6 % of their time: 3.1 % to cc1plus, 1.9 % to causes that are not known."
std::string noise_verdict(const NoiseSummary& noise);

// Who, as the subject of a row: "process cc1plus", "the hypervisor (steal)", "not known".
std::string culprit_name(const NoiseCulprit& culprit);

// "20 ms every 500 ms, CPU 1"; "31 times, 4.2 ms on average, 80 ms at most, CPUs 0-1".
std::string culprit_rhythm(const NoiseCulprit& culprit, size_t nodes);

struct NoiseClassWords {
    std::string name, rhythm, place; // "local timer", "0.64 ms every 125 ms", "each CPU of all nodes"
};
NoiseClassWords class_words(const model::NoiseClass& one, size_t nodes);

// What the figures can and cannot carry, a sentence each: the floor, the recorder's own time, what is missing.
std::vector<std::string> noise_caveats(const NoiseSummary& noise);

// Losses by decades of their length: "1 to 10 us".
struct LossDecade {
    std::string length;
    double count = 0, lost_s = 0;
};
std::vector<LossDecade> loss_decades(const NoiseSummary& noise); // those that have any

// Seconds where the bin of the summary's histogram begins, and ends.
double noise_bin_begin_s(size_t bin);

} // namespace plumb
