// Trials of cures in words, for all forms of their report.
#pragma once

#include "trial/outcome.h"

#include <string>

namespace plumb {

std::string promise_words(const std::optional<trial::Promise>& promise); // "about 12 %", "up to 12 %", "none"
std::string gain_words(double gain);                                     // "12 %", "-3.1 %"
std::string gain_interval_words(const trial::Decision& decision);        // "9.8 to 14 %"; empty: not known
const char* trial_verdict_words(trial::Verdict verdict);
const char* verdict_name(trial::Verdict verdict); // stable, for JSON
const char* state_name(trial::State state);       // stable, for JSON

} // namespace plumb
