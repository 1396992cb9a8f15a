// One run of a program as a child of plumb, timed from outside, with signals passed on to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::repeat {

inline constexpr const char* kPlumbItself = "/proc/self/exe"; // as the path of a program

struct ProcessStart {
    std::vector<std::string> words;       // the program, looked up as a shell does, and its arguments
    std::string path;                     // the program itself; empty: words.front()
    std::vector<std::string> environment; // NAME=VALUE, instead of what plumb itself has under that name
    std::string output, errors;           // files for what it writes to stdout, and to stderr
};

struct ProcessResult {
    int exit_status = 0; // 128 + n of signal n
    double wall_s = 0;   // until it ended
    double cpu_s = 0;    // of it and of those of its descendants that were waited for
    uint64_t resident_bytes = 0; // most of any of them; 0: not known: it is less than plumb's own, where each child begins
};

// Waits for its end. stdin is empty: a program that reads it would leave nothing to the next. Throws Error: it cannot be
// started; with the exit status 127 or 126 where that is the program's fault.
// Of one thread only: signals go to the last one that was started.
ProcessResult run_process(const ProcessStart& start);

// From then on Ctrl-C, SIGTERM, SIGHUP and SIGQUIT go to the program that runs, and do not end plumb; those that were ignored stay so.
void keep_signals_from_ending_plumb();
int caught_signal(); // the first one; 0: none yet

} // namespace plumb::repeat
