// The files of a run directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::trace {

struct RunDirectory {
    std::string path;
    std::string run_json;                    // path, the file may be missing
    std::vector<std::string> process_traces; // sorted paths of the shims' files
    std::vector<std::string> node_traces;    // sorted paths of the recorders' files
    uint64_t disk_bytes = 0;                 // blocks that all its files take, whatever they hold
};

// Throws plumb::Error when `path` is not a directory that can be listed, or has nothing of a run in it.
RunDirectory list_run_directory(const std::string& path);

} // namespace plumb::trace
