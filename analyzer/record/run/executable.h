// Finds the program that is to be run, the way execvp does, and says in words why one cannot be.
#pragma once

#include <string>
#include <vector>

namespace plumb::record {

struct Executable {
    std::string path;        // as execvp would take it; empty: not found
    std::string image;       // what the loader starts: the same, or the interpreter of a script
    std::string description; // "" or why the shim cannot be inside (static, other architecture, set-user-id)
    bool can_preload = true; // false also keeps the loader from complaining about a library of another class
    bool is_static = false, is_foreign = false, is_privileged = false;
};

// Follows #! to the interpreter, since that is what the loader starts. Never throws: the exec decides.
Executable find_executable(const std::string& program);

// What to tell the user when execvp(program) came back with `error` (an errno), and the exit status for it:
// 127 if there is no such program, 126 if it cannot be executed.
struct ExecFailure {
    std::string text;
    int exit_status;
};
ExecFailure explain_exec_failure(const std::string& program, int error);

} // namespace plumb::record
