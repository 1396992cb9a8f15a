// Programs whose work is to start others: build and test drivers. The shim records one only where it is the program that the
// user gave; a report does not blame it for starting processes.
#pragma once

namespace plumb {

inline constexpr const char* kBuildDrivers[] = {"make", "gmake", "ninja", "samu", "cmake", "ctest", "meson", "ccache"};

} // namespace plumb
