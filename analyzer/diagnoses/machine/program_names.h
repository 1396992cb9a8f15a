// Programs of a finding, in words.
#pragma once

#include <map>
#include <string>

namespace plumb {

// "solver, sshd and 3 others": those with the most seconds first.
std::string program_list(const std::map<std::string, double>& seconds_by_name);

} // namespace plumb
