#include "record/target_environment.h"

#include "record/build_config.h"

#include <cmath>
#include <cstdlib>
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

constexpr double kMostTimerHz = 250; // a signal costs the target far more than a perf sample does

} // namespace

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
    for (const char* collector : {"threads", "modules", "heap"})
        if (options.collects(collector) && !(collector == std::string("heap") && options.heap == "off"))
            collectors.push_back(collector);
    for (const std::string& collector : options.with)
        collectors.push_back(collector);
    variables[names::kCollectors] = joined(collectors, ',');
    variables[names::kHeapMode] = options.heap;
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
        result.enable = "install plumb whole (meson install)";
    } else if (shim.find_first_of(" :") != std::string::npos) {
        result.why_no_shim = "the path " + shim + " holds a blank or a colon, which LD_PRELOAD cannot carry";
        result.enable = "install plumb in a folder without them";
    } else if (!executable.can_preload) {
        result.why_no_shim = executable.description;
    } else {
        const char* others = getenv("LD_PRELOAD");
        variables["LD_PRELOAD"] = others && *others ? shim + ":" + others : shim;
        // A program built with AddressSanitizer refuses to start with any preload unless it is told not to look.
        const char* sanitizer = getenv("ASAN_OPTIONS");
        variables["ASAN_OPTIONS"] = (sanitizer && *sanitizer ? std::string(sanitizer) + ":" : std::string()) +
                                    "verify_asan_link_order=0";
        if (executable.is_privileged)
            result.why_no_shim = executable.description;
    }
    return result;
}

} // namespace plumb::record
