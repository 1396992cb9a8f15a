// Programs whose work is to start others: build and test drivers. The shim records one only where it is the program that the
// user gave; a report does not blame it for starting processes.
#pragma once

#include <string.h>

namespace plumb {

inline constexpr const char* kBuildDrivers[] = {"make", "gmake", "ninja", "samu", "cmake", "ctest", "meson", "ccache"};

inline bool is_build_driver(const char* base_name) {
    for (const char* driver : kBuildDrivers)
        if (strcmp(driver, base_name) == 0)
            return true;
    return false;
}

} // namespace plumb
