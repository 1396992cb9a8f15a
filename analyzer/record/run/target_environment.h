// The variables that the target gets from plumb (see plumb/environment.h): how the shim finds its work.
#pragma once

#include "record/run/executable.h"
#include "record/run/options.h"

#include <map>
#include <string>

namespace plumb::record {

struct TargetEnvironment {
    std::map<std::string, std::string> variables;
    std::string why_no_shim; // empty: the shim is preloaded
    std::string enable;
};

TargetEnvironment target_environment(const Options& options, const Executable& executable,
                                     const std::string& run_directory, bool perf_works);

// Puts Options::align_ranges, if there are any, where the shim looks for them. Throws Error.
void write_align_ranges(const Options& options, const std::string& run_directory);

void remove_align_ranges(const std::string& run_directory); // once the program has ended

// libplumb-strings.so, which exact alignment trapping preloads too, beside the shim. Empty: not found.
std::string find_strings_library(const std::string& shim);

// libplumb.so beside this program: in the build tree or where it was installed. Empty: not found.
std::string find_shim();

} // namespace plumb::record
