// Scotch, which partitions and maps graphs: opened by name where an order of ranks is asked for, so that nothing else of plumb needs it.
#pragma once

#include <string>

#if __has_include(<scotch/scotch.h>)
#define PLUMB_HAS_SCOTCH 1
#include <cstdint>
#include <cstdio>
#include <scotch/scotch.h>

namespace plumb::network {

// Its structures change between releases: only the release of the header is taken.
struct ScotchLibrary {
    decltype(&SCOTCH_version) version = nullptr;
    decltype(&SCOTCH_randomReset) reset_random = nullptr;
    decltype(&SCOTCH_graphInit) init_graph = nullptr;
    decltype(&SCOTCH_graphExit) exit_graph = nullptr;
    decltype(&SCOTCH_graphBuild) build_graph = nullptr;
    decltype(&SCOTCH_graphMap) map = nullptr;
    decltype(&SCOTCH_archInit) init_arch = nullptr;
    decltype(&SCOTCH_archExit) exit_arch = nullptr;
    decltype(&SCOTCH_archCmpltw) weighted_arch = nullptr;
    decltype(&SCOTCH_archTorusX) torus_arch = nullptr;
    decltype(&SCOTCH_archSub) part_of_arch = nullptr;
    decltype(&SCOTCH_stratInit) init_strategy = nullptr;
    decltype(&SCOTCH_stratExit) exit_strategy = nullptr;
    decltype(&SCOTCH_stratGraphMapBuild) build_strategy = nullptr;

    std::string why_not; // it cannot be used; empty: it can

    static const ScotchLibrary& opened();

  private:
    ScotchLibrary();
};

} // namespace plumb::network

#endif
