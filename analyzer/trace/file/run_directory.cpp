#include "trace/file/run_directory.h"

#include "support/error.h"
#include "trace/file/byte_source.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>

namespace plumb::trace {

namespace {

uint64_t disk_bytes_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code failure;
    uint64_t bytes = 0;
    for (fs::recursive_directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
        struct stat status = {};
        if (lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
            bytes += static_cast<uint64_t>(status.st_blocks) * kStatBlockBytes;
    }
    return bytes;
}

} // namespace

RunDirectory list_run_directory(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code failure;
    if (!fs::is_directory(path, failure))
        throw Error(fmt::format("cannot read the run {}: {}: give the directory that `plumb run` wrote", path,
                                failure ? failure.message() : "not a directory"));
    RunDirectory run{.path = path, .run_json = fs::path(path) / "run.json", .process_traces = {}, .node_traces = {},
                     .disk_bytes = disk_bytes_of(path)};
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!name.ends_with(".plumb"))
            continue;
        if (name.starts_with("process-"))
            run.process_traces.push_back(entry->path().string());
        else if (name.starts_with("node-"))
            run.node_traces.push_back(entry->path().string());
    }
    if (failure)
        throw Error(fmt::format("cannot list the run directory {}: {}", path, failure.message()));
    if (run.process_traces.empty() && run.node_traces.empty() && !fs::exists(run.run_json, failure))
        throw Error(fmt::format("{} is not a run of plumb: it holds neither run.json nor any trace file", path));
    std::sort(run.process_traces.begin(), run.process_traces.end());
    std::sort(run.node_traces.begin(), run.node_traces.end());
    return run;
}

} // namespace plumb::trace
