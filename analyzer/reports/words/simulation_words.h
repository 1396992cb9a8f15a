// A simulated job in words, for all forms of its report.
#pragma once

#include "simulate/study.h"

#include <string>
#include <vector>

namespace plumb {

const char* collective_words(simulate::Collective collective); // "a barrier"

// With the digits that the interval leaves: "35.2 ± 0.4 %", "7.78 ms ± 3.1 %"; without an interval where none is known.
std::string percent_with_error(const simulate::Estimate& value, bool unicode);
std::string time_with_error(const simulate::Estimate& value, bool unicode);

std::string granularity_words(double work_s); // "no work", "1.00 ms"

// Classes that came too rarely in the runs to judge them.
constexpr int kFewEvents = 20;
std::vector<std::string> rare_classes(const simulate::Study& study);

std::string followed_words(const simulate::Study& study); // how many ranks were followed: a sentence

// What the noise costs at each granularity, and which change gains most; two sentences.
std::string simulation_verdict(const simulate::Study& study);

// What holds in the simulation whether or not it does of the job, a sentence or two each.
std::vector<std::string> simulation_assumptions(const simulate::Study& study);

// Of a class, beyond its mean: "always", "0 s to 2.00 ms, each equally likely", "exponential"; "at independent moments".
std::string duration_shape_words(const model::NoiseDuration& duration);
std::string class_moments_words(const model::NoiseClass& one);

} // namespace plumb
