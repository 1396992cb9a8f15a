// What plumb try found, for all reports.
#pragma once

#include "statistics/spread.h"
#include "trial/cure.h"
#include "trial/measurement.h"
#include "trial/promise.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::trial {

enum class State {
    measured,       // the decision says what came of it
    failed,         // it changes what the program does
    does_not_apply, // here
    not_tried,      // nothing speaks for it, or it was not asked for, or there was no time
};

struct CureOutcome {
    Cure cure;
    std::optional<Promise> promise;
    State state = State::not_tried;
    bool is_chosen = false; // by the user
    std::string why;        // of a state other than measured
    Measurement measured;
    // Of new pairs alone, where the first ones called it better: they chose it, and flatter it.
    std::optional<Measurement> once_more = std::nullopt;
    bool is_doubtful = false; // the new pairs do not call it better
    std::string line;         // the command line with it
};

// The best cures of those that exclude each other, together.
struct Combination {
    std::vector<size_t> cures; // indexes, the best first
    std::string line, failure;
    Measurement against_base, against_best; // the best alone
};

struct Outcome {
    std::string program, line, directory;        // the command's first word, its line, where its runs are
    std::string machine;                         // the CPU's model
    double first_run_s = 0;                      // recorded
    size_t base_runs = 0, unusual_base_runs = 0; // the latter ended with another status than the usual one
    int usual_status = 0;
    std::optional<statistics::Spread> base_wall_s; // none: it was not measured
    std::vector<std::string> changing_outputs;     // by themselves: not compared
    std::vector<std::string> compared_outputs;
    DecisionRules rules;
    std::vector<CureOutcome> cures; // those that were tried first, by what they are promised to gain
    std::optional<Combination> combination;
    std::vector<size_t> best; // indexes of the cures to use; empty: none helps
    std::string best_line;
    Measurement best_measured;      // against the base
    bool best_is_confirmed = false; // by pairs that had no part in its choice: best_measured is of these alone
    std::string stopped;       // why not everything was decided; empty: it was
    int signal = 0;
};

} // namespace plumb::trial
