// What the launcher that started this process tells about its place among the ranks (plumb/launchers.h).
#pragma once

#include <optional>
#include <string>

namespace plumb::placement {

struct LaunchedRank {
    std::string launcher;
    int rank = -1, count = -1;             // in the job; count -1: not known
    int local_rank = -1, local_count = -1; // on this node; -1: not known
    std::string job;                       // as its launcher names it; empty: it names none
};

// Nothing: no launcher numbered this process (a job script is no rank). `get` is getenv or a test's stand-in,
// `proc_root` "/proc" except in tests.
std::optional<LaunchedRank> launched_rank(const char* (*get)(const char* name), const std::string& proc_root = "/proc");

} // namespace plumb::placement
