// A crash of plumb (a fault, an assertion, an exception that nobody caught) is not the program's: the program runs to its
// end, and its exit status is plumb's. In the handler of the fatal signal this process does what is left to do, by system
// calls alone, since nothing in its memory can be trusted: before the program was started it becomes the program; while the
// program runs it waits for it; afterwards it ends with the program's status. One sentence on stderr says what crashed.
//
// A limit of the file size (SIGXFSZ) is made an error of the call that exceeds it.
// Nothing helps against SIGKILL, which the kernel sends where memory is short.
#pragma once

#include "record/run/child.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace plumb::record {

// At most one at a time.
class CrashGuard {
  public:
    // `command`: the program, to be started as it is if a crash comes before. Signals whose disposition is not the default
    // one (a debugger's or sanitizer's) are left alone. The program does not inherit the handlers: exec drops them.
    CrashGuard(const std::vector<std::string>& command, const Inheritance&);
    ~CrashGuard();
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;

    // What has come to pass. Without a guard these do nothing.
    static void child_waits(pid_t child, int gate); // it ends when the gate is closed
    static void child_ended();                      // it never became the program
    static void program_runs(int signal_fd);        // the child has become the program
    static void program_ended(int exit_status);
    static void recording_ended(const std::string& run_directory); // what follows is the report
};

} // namespace plumb::record
