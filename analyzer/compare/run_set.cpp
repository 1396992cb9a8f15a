#include "compare/run_set.h"

#include "support/error.h"
#include "trace/file/run_directory.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace plumb {

namespace {

bool is_run(const std::string& path) {
    try {
        trace::list_run_directory(path);
        return true;
    } catch (const Error&) {
        return false;
    }
}

} // namespace

std::vector<std::string> runs_in(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code failure;
    if (!fs::is_directory(path, failure))
        throw Error(fmt::format("cannot read the runs in {}: {}: give a directory that `plumb run` wrote, or a folder with several",
                                path, failure ? failure.message() : "not a directory"));
    if (is_run(path))
        return {path};
    std::vector<std::string> runs;
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure))
        if (is_run(entry->path().string()))
            runs.push_back(entry->path().string());
    if (failure)
        throw Error(fmt::format("cannot list {}: {}", path, failure.message()));
    if (runs.empty())
        throw Error(fmt::format("{} is neither a run of plumb nor a folder with runs in it", path));
    std::ranges::sort(runs);
    return runs;
}

} // namespace plumb
