// Which system calls the findings on waits report: threads wait in them, and the CPU time that they take goes with the wait.
#pragma once

#include "analyses/time/wait_class.h"
#include "model/call_paths.h"

#include <string>

namespace plumb {

// "fsync of /a/file" -> "fsync".
std::string call_name(const WaitClass& what);

// The system call that is a wait for a file, or a futex wait of which the holder of the lock, or who was waited for, is known;
// often enough, and long enough, that a finding on the wait is to be expected.
bool is_reported_as_wait(model::CallPaths& paths, const std::string& system_call);

} // namespace plumb
