// What a run met on the machine that was not the program's doing, and may be another time otherwise: where it was placed, how its memory
// was laid out, who else ran. Causes only: nothing that follows from how fast the program was.
#pragma once

#include "model/run.h"

#include <map>
#include <string>

namespace plumb {

// By name, as a sentence names them: "the CPU of its busiest thread". A run has those that were recorded.
struct RunConditions {
    std::map<std::string, std::string> kinds; // "CPU 3"
    std::map<std::string, double> amounts;    // in the unit of amount_unit()
};

// Of the process that ran longest, and of the hosts.
RunConditions conditions_of(const model::Run& run);

// Unit of an amount as format_metric() knows it: "fraction", "bytes".
std::string amount_unit(const std::string& name);

// What to do about it; "": nothing that is known.
std::string condition_advice(const std::string& name);

} // namespace plumb
