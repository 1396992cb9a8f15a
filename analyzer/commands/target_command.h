// The program that a command is to run: all that follows "--", or else all from the first word on that is no
// option of plumb's. Shared by run, try and pin.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace plumb {

// Called once by main before parsing: sets aside what follows the first "--" and returns the new argc.
int set_aside_target(int argc, char** argv);

// Options of plumb's end at the first word that is none.
void declare_target(CLI::App& subcommand);

// After parsing. Throws Error when the command line names no program.
std::vector<std::string> target_of(const CLI::App& subcommand);

} // namespace plumb
