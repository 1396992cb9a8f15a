// Commands that a user can paste.
#pragma once

#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

// `words` as one line for a POSIX shell, quoted only where needed.
std::string shell_line(const std::vector<std::string>& words);

// "plumb run OPTIONS -- COMMAND" with the command of `run`. Empty when the command was not recorded.
std::string plumb_run_line(const model::Run& run, const std::string& options);

// "plumb try --cure ALLOCATORS -- COMMAND": every allocator that plumb try knows. Empty when the command was not recorded.
std::string try_allocators_line(const model::Run& run);

} // namespace plumb
