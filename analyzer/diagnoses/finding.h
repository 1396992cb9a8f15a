// What a diagnosis says, in the one form that all reports show (see the JSON Schema in reports/).
#pragma once

#include "model/run.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace plumb {

enum class Severity { info, low, medium, high };

// high from 10 % of the run on, medium from 3 %, low below. `fraction`: of the run's time, 0..1.
Severity severity_of_cost(double fraction);
const char* to_string(Severity severity);

using Value = std::variant<bool, int64_t, double, std::string, std::vector<std::string>, std::vector<int64_t>>;

struct Cost {
    double seconds = 0;  // of wall time
    double fraction = 0; // of the run, 0..1
    std::string how = "estimated"; // "measured", "estimated" or "bound"
};

struct Gain {
    double fraction = 0; // of the run's wall time saved by the advice, 0..1
    std::string how;     // in words: how it was estimated
};

struct Location {
    std::string file, function, module;
    uint32_t line = 0;   // 0: unknown
    double share = 0;    // of the finding's cost, 0..1
    std::string inlined_from; // "file:line" of the call that was inlined, may be empty
};

struct Subject {
    std::string kind; // variable, allocation, call-site, cpu, thread, rank, ranks, node, daemon, device, communicator, library
    std::string name;
    std::map<std::string, Value> details;
};

struct Advice {
    std::string what, how;
    std::string applies; // launch, code or system
    std::string command; // ready to paste, may be empty
};

struct Finding {
    std::string id;
    Severity severity = Severity::info;
    double confidence = 1; // 0..1
    std::string title;
    Cost cost;
    Gain gain;
    std::vector<Location> where; // by share; the first is the line of the user's own code to look at
    Subject subject;
    std::map<std::string, Value> evidence; // numbers with their unit in the key
    std::vector<Advice> advice;
};

struct Metric {
    std::string name;  // "parallel efficiency"
    double value = 0;
    std::string unit;  // "fraction", "seconds", "bytes", "bytes per second", "count"
    std::string how;   // the formula in words, and its caveat
};

} // namespace plumb
