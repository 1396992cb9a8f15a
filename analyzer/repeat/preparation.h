// What is done before each run of a series, and not measured.
#pragma once

#include <string>
#include <vector>

namespace plumb::repeat {

// Runs `line` by a shell, where there is one; it writes into output.out and output.err. Returns why no run can follow, in
// words; empty: one can. A signal is left to caught_signal().
std::string prepare_run(const std::string& line, const std::vector<std::string>& environment, const std::string& output);

// The end of a file, for people; empty where it cannot be read.
std::string end_of_file(const std::string& path);

} // namespace plumb::repeat
