// One side of a comparison: a run directory, or a folder of several.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// The run itself, or the runs directly in the folder, by name. Throws Error: no such folder, neither a run nor a folder with one.
std::vector<std::string> runs_in(const std::string& path);

} // namespace plumb
