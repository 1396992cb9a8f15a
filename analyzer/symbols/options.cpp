#include "platform/private_file.h"
#include "platform/redaction.h"
#include "symbols/resolver.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::symbols {

namespace {

int64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool was_here(const model::Run& run) {
    char host[256] = {};
    const std::string name = run.redacted                                  ? platform::host_alias()
                             : gethostname(host, sizeof host - 1) == 0 ? host
                                                                           : "";
    return std::ranges::find(run.hosts, name, &model::Host::name) != run.hosts.end();
}

bool is_own(const std::string& directory) {
    struct stat status{};
    return stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

// Boot is when CLOCK_MONOTONIC was 0; corrections of the clock move it a little, suspending a lot (and then only
// names are lost).
bool is_same_boot(const model::Run& run) {
    constexpr int64_t kTolerance = 5'000'000'000;
    if (run.start_unix_ns == 0 || !was_here(run))
        return false;
    const int64_t then = static_cast<int64_t>(run.start_unix_ns) - static_cast<int64_t>(run.begin_ns);
    const int64_t now = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    return std::llabs(then - now) < kTolerance;
}

std::string cache_file_for(const std::string& directory) {
    if (directory.empty())
        return {};
    if (access(directory.c_str(), W_OK) == 0)
        return directory + "/symbols.cache";
    const std::string folder = platform::user_cache_folder();
    if (folder.empty())
        return {};
    std::error_code error;
    const std::string whole = std::filesystem::absolute(directory, error).string();
    return folder + "/symbols-" + std::to_string(std::hash<std::string>{}(whole)) + ".cache";
}

} // namespace

Options options_for(const model::Run& run) {
    Options options;
    options.run_directory = run.directory;
    if (!run.redacted) // the names of source files would be in it
        options.cache_file = cache_file_for(run.directory);
    options.begin_unix_ns = run.start_unix_ns;
    options.own_run = was_here(run) && is_own(run.directory);
    options.same_boot = is_same_boot(run);
    options.machine_folder = platform::user_cache_folder();
    options.names_kernel = std::any_of(run.processes.begin(), run.processes.end(), [](const model::Process& process) {
        return std::any_of(process.paths.begin(), process.paths.end(), [](const model::PathNode& node) { return node.kernel; });
    });
    return options;
}

} // namespace plumb::symbols
