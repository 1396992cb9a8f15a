// `plumb run`: launches the program, records until it ends, leaves a run directory.
#pragma once

#include "record/run/options.h"

#include <set>
#include <string>

namespace plumb::record {

struct Outcome {
    int exit_status = 0;        // of plumb run: the program's, 128+N for signal N
    std::string run_directory;
    std::set<std::string> private_paths; // of files of the run whose folders were not recorded (Options::redact)
    std::string problem;        // what kept the recording from being whole; empty: nothing
    bool last = true;           // no other recorder of this run goes on: the report is due
    bool first_failure = false; // the program is the first of several to fail: its launcher may now kill the other recorders
};

// Throws Error (125, 126, 127) when the program could not be started; nothing is left behind then. Once it runs,
// no failure of the recording touches it or its exit status.
Outcome record(const Options& options);

} // namespace plumb::record
