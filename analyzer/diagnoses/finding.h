// What a diagnosis says, in the one form that all reports show (see the JSON Schema in reports/).
#pragma once

#include "analyses/statements.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace plumb {

enum class Severity { info, low, medium, high };

const char* to_string(Severity severity);

struct Gain {
    double fraction = 0; // of the run's wall time saved by the advice, 0..1: the best estimate, or an upper bound
    std::string how;     // in words: how it was estimated
    std::optional<double> at_least = std::nullopt; // lower bound of `fraction`, where it is uncertain
    bool is_at_most = false; // `fraction` is an upper bound by the way it was found
    // What the severity follows where less than `fraction` is to be expected and how much less is not known: no bound, so no
    // report prints it.
    std::optional<double> likely = std::nullopt;

    enum class Kind { estimate, upper_bound };
    // The one place that decides between "about" and "up to", for all reports. An estimate of which less is certain is no bound:
    // the cure may save more.
    Kind kind() const { return is_at_most ? Kind::upper_bound : Kind::estimate; }
    double certain() const { return at_least.value_or(fraction); }
};

// What the advice gains decides, not the share of time that has a name: high where it saves at least 10 % of the run,
// medium from 3 %, low from 1 % on. Below that, and below 20 ms, it is worth nobody's work: info. `run_s`: wall time
// of the run.
Severity severity_of(const Gain& gain, double run_s);

struct Finding {
    std::string id;
    Severity severity = Severity::info; // of the gain, unless it is fixed; set by findings_of() for all diagnoses
    std::optional<Severity> fixed_severity = std::nullopt; // high: the program cannot end; info: no loss, for the record
    double confidence = 1; // 0..1
    std::string title;
    std::string whole = {}; // what the fractions of cost and gain are parts of; empty: the run's wall time
    Cost cost;
    Gain gain;
    std::vector<Location> where; // by share; the first is the line of the user's own code to look at
    Subject subject;
    std::map<std::string, Value> evidence; // numbers with their unit in the key
    std::vector<Advice> advice;
    std::vector<size_t> overlaps; // indexes of findings of the report whose gain is partly the same time
};

struct Metric {
    std::string name;  // "parallel efficiency"
    double value = 0;
    std::string unit;  // "fraction", "seconds", "bytes", "bytes per second", "count"
    std::string how;   // the formula in words, and its caveat
};

} // namespace plumb
