#include "record/run/target_environment.h"

#include "record/build_config.h"
#include "support/error.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <plumb/environment.h>
#include <unistd.h>

namespace plumb::record {

namespace {

std::string joined(const std::vector<std::string>& words, char separator) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : std::string(1, separator)) + word;
    return text;
}

// One file for each recorder of the run: ranks may run different programs.
std::string align_ranges_path(const std::string& run_directory) {
    return run_directory + "/align-ranges-" + std::to_string(getpid());
}

void set_alignment(const Options& options, const std::string& run_directory,
                   std::map<std::string, std::string>& variables) {
    namespace names = plumb::environment;
    variables[names::kAlign] = options.align;
    if (!options.align_modules.empty())
        variables[names::kAlignModules] = joined(options.align_modules, ':');
    if (!options.align_skip.empty())
        variables[names::kAlignSkip] = joined(options.align_skip, ':');
    if (options.align_fatal)
        variables[names::kAlignFatal] = "1";
    if (options.align_fatal && !options.align_ranges.empty())
        variables[names::kAlignRanges] = align_ranges_path(run_directory);
}

constexpr double kMostTimerHz = 250; // a signal costs the target far more than a perf sample does

} // namespace

void write_align_ranges(const Options& options, const std::string& run_directory) {
    if (!options.align_fatal || options.align_ranges.empty())
        return;
    const std::string path = align_ranges_path(run_directory);
    FILE* file = fopen(path.c_str(), "wxe");
    const bool written = file && fwrite(options.align_ranges.data(), options.align_ranges.size(), 1, file) == 1;
    const int reason = errno;
    if ((file && fclose(file) != 0) || !written)
        throw Error("cannot write " + path + ", which --only-file needs: " + strerror(reason));
}

void remove_align_ranges(const std::string& run_directory) { unlink(align_ranges_path(run_directory).c_str()); }

std::string find_strings_library(const std::string& shim) {
    const size_t slash = shim.rfind('/');
    if (slash == std::string::npos)
        return "";
    const std::string folder = shim.substr(0, slash + 1);
    for (const char* place : {"strings/libplumb-strings.so", "libplumb-strings.so"})
        if (access((folder + place).c_str(), R_OK) == 0)
            return folder + place;
    return "";
}

std::string find_shim() {
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    std::vector<std::string> places;
    if (length > 0) {
        const std::string program(self, length);
        const std::string folder = program.substr(0, program.rfind('/'));
        const std::string prefix = folder.substr(0, folder.rfind('/'));
        places = {prefix + "/preload/libplumb.so", prefix + "/" + kLibraryFolder + "/libplumb.so",
                  prefix + "/lib/libplumb.so"};
    }
    places.push_back(std::string(kInstallPrefix) + "/" + kLibraryFolder + "/libplumb.so");
    for (const std::string& place : places)
        if (access(place.c_str(), R_OK) == 0)
            return place;
    return "";
}

TargetEnvironment target_environment(const Options& options, const Executable& executable,
                                     const std::string& run_directory, bool perf_works) {
    namespace names = plumb::environment;
    TargetEnvironment result;
    auto& variables = result.variables;
    variables = options.environment;
    variables[names::kRunDirectory] = run_directory;
    std::vector<std::string> collectors;
    for (const char* collector : {"threads", "modules", "heap", "mpi", "openmp"})
        if (options.collects(collector) && !(collector == std::string("heap") && options.heap == "off"))
            collectors.push_back(collector);
    if (options.align != "off") {
        set_alignment(options, run_directory, variables);
        collectors.push_back("align");
    }
    for (const std::string& collector : options.with)
        if (collector != "align")
            collectors.push_back(collector);
    variables[names::kCollectors] = joined(collectors, ',');
    variables[names::kHeapMode] = options.heap;
    if (options.redact)
        variables[names::kRedact] = "1";
    if (!options.include.empty())
        variables[names::kInclude] = joined(options.include, ':');
    if (!options.exclude.empty())
        variables[names::kExclude] = joined(options.exclude, ':');
    if (!perf_works && options.collects("sample"))
        variables[names::kTimerRate] =
            std::to_string(std::lround(std::min(options.rate_hz, kMostTimerHz)));

    const std::string shim = find_shim();
    if (shim.empty()) {
        result.why_no_shim = "libplumb.so was found neither beside plumb nor in its library folder";
        result.enable = "install all of plumb (meson install)";
    } else if (shim.find_first_of(" :") != std::string::npos) {
        result.why_no_shim = "the path " + shim + " contains a space or a colon, which LD_PRELOAD cannot hold";
        result.enable = "install plumb in a folder without them";
    } else if (!executable.can_preload) {
        result.why_no_shim = executable.description;
    } else {
        // With the flag always set, the C library's own string functions would trap as often as the program.
        const std::string strings = options.align == "exact" ? find_strings_library(shim) : "";
        const std::string preloads = strings.empty() ? shim : shim + ":" + strings;
        const char* others = getenv("LD_PRELOAD");
        variables["LD_PRELOAD"] = others && *others ? preloads + ":" + others : preloads;
        // A program built with AddressSanitizer refuses to start with any preload unless an option forbids the check.
        const char* sanitizer = getenv("ASAN_OPTIONS");
        variables["ASAN_OPTIONS"] = (sanitizer && *sanitizer ? std::string(sanitizer) + ":" : std::string()) +
                                    "verify_asan_link_order=0";
        if (executable.is_privileged)
            result.why_no_shim = executable.description;
    }
    return result;
}

} // namespace plumb::record
