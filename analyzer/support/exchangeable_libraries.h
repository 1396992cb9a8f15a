// Libraries of which several builds with the same interface exist, which a program need not be rebuilt for: `plumb try` runs it with each
// that is installed.
#pragma once

#include <string_view>

namespace plumb {

struct ExchangeableLibrary {
    const char *id, *name, *what;
    const char* also; // a library of another name with the same interface, or null
};

inline constexpr ExchangeableLibrary kExchangeableLibraries[] = {{"blas", "libblas.so.3", "BLAS", "libopenblas.so.0"},
                                                                 {"lapack", "liblapack.so.3", "LAPACK", "libopenblas.so.0"},
                                                                 {"fft", "libfftw3.so.3", "FFT library", "libmkl_rt.so.2"}};

// By the name of its file, "libfftw3.so.3" or "libfftw3.so.3.6.9". Null: it is none.
constexpr const ExchangeableLibrary* exchangeable_library(std::string_view name) {
    for (const ExchangeableLibrary& each : kExchangeableLibraries)
        if (const std::string_view known = each.name; name.starts_with(known) && (name.size() == known.size() || name[known.size()] == '.'))
            return &each;
    return nullptr;
}

} // namespace plumb
