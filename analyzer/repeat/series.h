// Recorded runs of one command, or of several in turns, as sets: a folder for each command with its runs as 001, 002, .., their output
// beside them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace plumb::repeat {

struct SeriesCommand {
    std::string set; // name of its folder
    std::vector<std::string> words;
    std::vector<std::string> environment = {};    // NAME=VALUE, instead of what plumb itself has under that name
    std::vector<std::string> record_options = {}; // of `plumb run`, behind those of the series
    std::string prepare = "";                     // a line for a shell, run before each run and not recorded; empty: none
};

struct SeriesOptions {
    std::vector<SeriesCommand> commands;
    size_t rounds = 10, warm_up_rounds = 1;
    std::string directory;                   // for all; made here
    std::vector<std::string> record_options; // of `plumb run`
    bool failures_count = false;             // a run that ends with another status than 0 counts as any other
    // Looks at each run that ended with status 0, also in warm-up rounds: (index of the command, its directory). Returns why the series is
    // to end, or nothing.
    std::function<std::string(size_t, const std::string&)> reason_to_end = {};
};

struct SeriesRun {
    size_t command = 0, round = 0;
    std::string directory;
    int exit_status = 0;
};

struct SeriesResult {
    std::vector<SeriesRun> runs;   // that count, in the order in which they took place
    std::vector<SeriesRun> failed; // not counted: the command ended with a status other than 0
    std::string last_errors;       // the end of what the last of these wrote to stderr
    std::string stopped;           // why there are fewer runs than asked for; empty: there are not
    int signal = 0;                // that ended it; 0: none did
};

// `on_run(done, all)` is called before each run, and after the last. Ends early, and says so in the result, on a signal, when a
// preparation fails, when a run cannot be recorded whole, and when all of the first rounds failed. Throws Error: nothing could be recorded.
SeriesResult record_series(const SeriesOptions& options, const std::function<void(size_t, size_t)>& on_run);

} // namespace plumb::repeat
