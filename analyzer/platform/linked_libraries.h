// The libraries that a program is linked with, found as the loader will find them.
#pragma once

#include <string>
#include <vector>

namespace plumb::platform {

// Asks the program's own loader (its --list), which maps the files but runs nothing of them. Paths of libraries,
// direct and indirect ones, in the loader's order; empty for a static program, or where the loader cannot tell.
std::vector<std::string> linked_libraries(const std::string& program);

} // namespace plumb::platform
