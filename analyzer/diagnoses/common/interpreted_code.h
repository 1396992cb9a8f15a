// Whether a program of the system runs code of the user's: an interpreter with a script. What such a process asks of the
// kernel is the script's choice; how the interpreter manages its memory is not.
#pragma once

#include "model/run.h"

namespace plumb {

// True for an interpreter whose command line names a script outside the system's packages. Code on the command line
// itself ("-c", "-e") counts where the process is the command that the user started, not where another program made it up.
// False where the command line was not recorded.
bool interprets_users_code(const model::Run& run, const model::Process& process);

} // namespace plumb
