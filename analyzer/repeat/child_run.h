// One recorded run of a command in a process of its own: whatever one run does to plumb, the next starts as new.
#pragma once

#include <string>
#include <vector>

namespace plumb::repeat {

struct ChildRun {
    std::vector<std::string> command, options; // options: of `plumb run`
    std::vector<std::string> environment;      // NAME=VALUE, instead of what plumb itself has under that name
    std::string directory;                     // to record into; must not exist
    std::string output, errors;                // files for what it writes to stdout, and to stderr (plumb's own messages as well)
};

struct ChildResult {
    int exit_status = 0;  // of the command, 128 + n of signal n
    bool is_whole = true; // the recording was finished
};

// Waits for its end. stdin is empty: a command that reads it would leave nothing to the next. Throws Error: it cannot be started.
// Of one thread only: signals go to the last one that was started.
ChildResult record_child(const ChildRun& run);

} // namespace plumb::repeat
