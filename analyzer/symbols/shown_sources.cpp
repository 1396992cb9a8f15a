#include "symbols/shown_sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::symbols {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kForbidden = {"/proc", "/sys", "/dev", "/run", "/etc"};
constexpr std::array<std::string_view, 46> kSuffixes = {
    ".c",   ".h",   ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".h++", ".inc", ".inl",
    ".ipp", ".tpp", ".tcc", ".i",   ".ii",  ".m",   ".mm",  ".s",   ".asm", ".f",   ".for", ".ftn",
    ".f77", ".f90", ".f95", ".f03", ".f08", ".fpp", ".rs",  ".go",  ".d",   ".di",  ".adb", ".ads",
    ".zig", ".nim", ".cu",  ".cuh", ".swift", ".ml", ".hs", ".pyx", ".jl",  ".pas"};

// The file behind all links; empty: there is none.
fs::path real_path(const std::string& path) {
    std::error_code error;
    fs::path real = path.starts_with('/') ? fs::canonical(path, error) : fs::path();
    return error ? fs::path() : real;
}

bool is_below(const fs::path& path, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_trusted_file(const fs::path& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == geteuid() || status.st_uid == 0);
}

bool is_hidden(const fs::path& path) {
    return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part.native().starts_with('.'); });
}

// The standard library's headers have no suffix; they are known by where they lie.
bool is_source_name(const fs::path& path) {
    std::string suffix = path.extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end() ||
           (suffix.empty() && is_below(path, "/usr/include"));
}

} // namespace

bool is_own_program(const std::string& path, const std::string& run_directory) {
    const fs::path real = real_path(path);
    std::error_code error;
    const fs::path run = fs::canonical(run_directory, error);
    return !real.empty() && !error && !is_below(real, run) && is_trusted_file(real);
}

bool is_plain_source(const std::string& path) {
    const fs::path real = real_path(path);
    const auto holds = [&](std::string_view folder) { return is_below(real, folder); };
    return !real.empty() && is_source_name(real) && !is_hidden(real) &&
           std::none_of(kForbidden.begin(), kForbidden.end(), holds) && is_trusted_file(real);
}

ShownSources::ShownSources(const std::vector<std::pair<std::string, std::string>>& source_maps, const std::string& sysroot) {
    const auto add = [this](const std::string& named) {
        std::error_code error; // of a folder that is not there, or of the empty name
        const fs::path real = fs::canonical(named, error);
        if (!error && real != "/")
            folders_.push_back(real.string());
    };
    for (const auto& [old_prefix, new_prefix] : source_maps)
        add(new_prefix);
    add(sysroot);
}

bool ShownSources::may_show(const std::string& file) const {
    const fs::path real = real_path(file);
    struct stat status{};
    const bool is_named = !real.empty() && stat(real.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                          std::any_of(folders_.begin(), folders_.end(),
                                      [&](const std::string& folder) { return is_below(real, folder); });
    return is_named || (files_.contains(file) && is_plain_source(file));
}

} // namespace plumb::symbols
