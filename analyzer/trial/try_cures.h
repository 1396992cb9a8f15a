// plumb try: one recorded run, whose findings say which cures to try; then unrecorded runs without and with each of them in
// turns, until it is decided which of them help; then the best of them together.
#pragma once

#include "analysis/report.h"
#include "trial/outcome.h"
#include "trial/selection.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb::trial {

struct TryOptions {
    std::vector<std::string> command;
    std::vector<std::string> outputs; // files that are compared beside stdout
    std::string prepare = {};         // a line for a shell, run before each run and not timed; empty: none
    std::string directory;            // a new one, for the recorded run and what the others write
    double time_s = 600;              // for all runs
    DecisionRules rules;
    Wanted wanted;
    bool only_list = false; // no run but the recorded one
};

// `on_progress` gets words for what runs next. Ends early, and says so in the outcome, on a signal, when the time is over or
// the disk is full. Throws Error: the command cannot be run or recorded.
Outcome try_cures(const TryOptions& options, const std::function<void(const std::string&)>& on_progress);

} // namespace plumb::trial
