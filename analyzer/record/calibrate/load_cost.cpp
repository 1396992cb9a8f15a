#include "record/calibrate/load_cost.h"

#include "platform/read_file.h"
#include "support/median.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <plumb/environment.h>
#include <plumb/trace_format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace plumb::record {

namespace {

namespace fs = std::filesystem;

constexpr size_t kRuns = 7; // of each kind
constexpr const char* kProgram = "/bin/true";

std::vector<std::string> environment_without_plumb() {
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable)
        if (strncmp(*variable, "PLUMB_", 6) != 0)
            variables.emplace_back(*variable);
    return variables;
}

std::vector<std::string> environment_with(const std::string& shim, const std::string& folder) {
    std::vector<std::string> variables = environment_without_plumb();
    const char* others = getenv("LD_PRELOAD");
    std::erase_if(variables, [](const std::string& variable) { return variable.starts_with("LD_PRELOAD="); });
    variables.push_back("LD_PRELOAD=" + shim + (others && *others ? std::string(":") + others : ""));
    variables.push_back(std::string(environment::kRunDirectory) + "=" + folder);
    return variables;
}

// CPU time of one run.
std::optional<uint64_t> time_run(const std::vector<std::string>& variables) {
    std::vector<char*> pointers;
    for (const std::string& variable : variables)
        pointers.push_back(const_cast<char*>(variable.c_str()));
    pointers.push_back(nullptr);
    char* arguments[] = {const_cast<char*>(kProgram), nullptr};
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, kProgram, nullptr, &attributes, arguments, pointers.data());
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return std::nullopt;
    int status = 0;
    rusage usage{};
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return std::nullopt;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return std::nullopt;
    const auto ns = [](const timeval& time) {
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// What the shim counted itself in the runs that left their files there.
std::optional<uint64_t> counted_each(const std::string& folder) {
    uint64_t sum = 0, files = 0;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        trace::FileHeader header{};
        std::ifstream file(entry.path(), std::ios::binary);
        if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
            memcmp(header.magic, trace::kMagic, sizeof header.magic) != 0)
            continue;
        sum += header.own_cost_ns;
        ++files;
    }
    return files == kRuns ? std::optional(sum / files) : std::nullopt;
}

uint64_t measure(const std::string& shim, const std::string& folder) {
    const std::vector<std::string> bare = environment_without_plumb(), preloaded = environment_with(shim, folder);
    std::vector<uint64_t> without, with;
    for (size_t run = 0; run < kRuns; ++run) {
        const auto one = time_run(bare), other = time_run(preloaded);
        if (!one || !other)
            return 0;
        without.push_back(*one);
        with.push_back(*other);
    }
    const auto counted = counted_each(folder);
    const uint64_t most = upper_median(with), least = upper_median(without) + counted.value_or(0);
    return counted && most > least ? most - least : 0;
}

} // namespace

uint64_t load_cost_ns(Calibration& calibration, const std::string& shim, const std::string& folder) {
    struct stat status{};
    if (shim.empty() || stat(shim.c_str(), &status) != 0 || access(kProgram, X_OK) != 0)
        return 0;
    const std::string name = "load-cost " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + " " + shim;
    if (const auto known = calibration.cache().find(name))
        return platform::to_u64(*known);
    if (mkdir(folder.c_str(), 0700) != 0)
        return 0;
    const uint64_t cost_ns = calibration.spend([&] { return measure(shim, folder); });
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (cost_ns > 0)
        calibration.cache().keep(name, std::to_string(cost_ns));
    return cost_ns;
}

} // namespace plumb::record
