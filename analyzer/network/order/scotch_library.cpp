#include "network/order/scotch_library.h"

#if defined(PLUMB_HAS_SCOTCH)

#include <dlfcn.h>
#include <fmt/format.h>

namespace plumb::network {

namespace {

constexpr const char* kName = "libscotch-7.0.so";

template <class Function> bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

ScotchLibrary::ScotchLibrary() {
    void* const library = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        why_not = fmt::format("{} is not installed (Debian: libscotch-7.0)", kName);
        return;
    }
    const bool is_whole =
        find(library, "SCOTCH_version", version) && find(library, "SCOTCH_randomReset", reset_random) &&
        find(library, "SCOTCH_graphInit", init_graph) && find(library, "SCOTCH_graphExit", exit_graph) &&
        find(library, "SCOTCH_graphBuild", build_graph) && find(library, "SCOTCH_graphMap", map) && find(library, "SCOTCH_archInit", init_arch) &&
        find(library, "SCOTCH_archExit", exit_arch) && find(library, "SCOTCH_archCmpltw", weighted_arch) &&
        find(library, "SCOTCH_archTorusX", torus_arch) && find(library, "SCOTCH_archSub", part_of_arch) &&
        find(library, "SCOTCH_stratInit", init_strategy) && find(library, "SCOTCH_stratExit", exit_strategy) &&
        find(library, "SCOTCH_stratGraphMapBuild", build_strategy);
    if (!is_whole) {
        why_not = fmt::format("{} lacks a function that plumb calls", kName);
        return;
    }
    int major = 0, release = 0, patch = 0;
    version(&major, &release, &patch);
    if (major != SCOTCH_VERSION || release != SCOTCH_RELEASE)
        why_not = fmt::format("{} is Scotch {}.{}; this plumb was built for {}.{}", kName, major, release, SCOTCH_VERSION, SCOTCH_RELEASE);
}

const ScotchLibrary& ScotchLibrary::opened() {
    static const ScotchLibrary library;
    return library;
}

} // namespace plumb::network

#endif
