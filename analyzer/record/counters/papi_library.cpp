#include "record/counters/papi_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace plumb::record {

namespace {

// The minor version is part of the name, so that several are tried.
constexpr const char* kNames[] = {"libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0", "libpapi.so"};
constexpr int kVersions[] = {7 << 24, 7 << 24 | 1 << 16, 7 << 24 | 2 << 16, 6 << 24};

} // namespace

bool PapiLibrary::find_functions(void* library) {
#define PLUMB_FIND(function)                                                                                                     \
    if (!(function = reinterpret_cast<decltype(function)>(dlsym(library, #function)))) {                                         \
        why_ = "the library has no " #function;                                                                                  \
        return false;                                                                                                            \
    }
    PLUMB_PAPI_FUNCTIONS(PLUMB_FIND)
#undef PLUMB_FIND
    return true;
}

// PAPI_library_init() wants the version that its caller was compiled with, and refuses another: the one that a library was made
// of is found by trying.
PapiLibrary::PapiLibrary() {
    void* library = nullptr;
    for (const char* name : kNames)
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        is_missing_ = true;
        why_ = "PAPI is not installed (no libpapi.so of version 6 or 7)";
        return;
    }
    if (!find_functions(library))
        return;
    int answer = 0;
    for (const int version : kVersions)
        if ((answer = PAPI_library_init(version)) == version) {
            version_ = version;
            return;
        }
    why_ = fmt::format("PAPI_library_init: {} ({})", answer < 0 ? PAPI_strerror(answer) : "another version", answer);
}

std::string PapiLibrary::version() const { return fmt::format("{}.{}", version_ >> 24 & 0xff, version_ >> 16 & 0xff); }

std::string PapiLibrary::identity() const {
    Dl_info info{};
    struct stat status{};
    if (!dladdr(reinterpret_cast<void*>(PAPI_library_init), &info) || stat(info.dli_fname, &status) != 0)
        return "PAPI ";
    return fmt::format("{} {} {} ", info.dli_fname, status.st_size, status.st_mtim.tv_sec);
}

} // namespace plumb::record
