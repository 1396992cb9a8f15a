// The options of plumb run about unaligned accesses.
#pragma once

#include "record/run/options.h"

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace plumb {

struct AlignOptions {
    std::string mode; // find, exact or off; empty: not said
    std::vector<std::string> modules, skip;
    bool fatal = false;
    std::vector<std::string> only_files; // globs of source files
};

void declare_align_options(CLI::App& subcommand, AlignOptions& options);

// Settles what is recorded: --align before --with and --without, --fatal means exact. Needs options.command.
// `heap_given`: the user said --heap himself. Throws Error when the options contradict one another, or when no code
// of a file of --only-file is found.
void apply_align_options(const AlignOptions& wanted, bool heap_given, record::Options& options);

} // namespace plumb
