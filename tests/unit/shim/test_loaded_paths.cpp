#include "platform/elf/loaded_paths.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <set>
#include <string>

using namespace plumb::shim;

namespace {

std::set<std::string> paths_in(const LoadedPaths& loaded) {
    std::set<std::string> paths;
    for (const char* path = loaded.first(); path; path = loaded.behind(path))
        paths.insert(path);
    return paths;
}

bool has_part(const std::set<std::string>& paths, const std::string& part) {
    for (const std::string& path : paths)
        if (path.find(part) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("paths of loaded objects outlive the objects") {
    const char* const library = "libanl.so.1"; // of the C library, and nobody needs it
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle);
    const LoadedPaths loaded;
    const std::set<std::string> before = paths_in(loaded);
    CHECK(has_part(before, library));
    CHECK(has_part(before, "libc.so"));
    REQUIRE(dlclose(handle) == 0);
    for (int i = 0; i < 100; ++i) // somebody else gets the loader's memory
        free(memset(malloc(16 + static_cast<size_t>(i) * 4), 'x', 16));
    CHECK(paths_in(loaded) == before);
    const LoadedPaths now;
    CHECK_FALSE(has_part(paths_in(now), library));
}
