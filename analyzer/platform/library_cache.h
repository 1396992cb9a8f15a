// The loader's cache of the libraries that are installed: /etc/ld.so.cache, which ldconfig writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

struct CachedLibrary {
    std::string name, path; // "libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1"
};

// Those of this machine's own kind of program, in the order of the cache, where the loader takes the first of a name. Empty: it
// is no cache of the form that glibc has written since 2.2, or it is cut off.
std::vector<CachedLibrary> parse_library_cache(std::string_view content);

// `root`: "" for this machine.
std::vector<CachedLibrary> read_library_cache(const std::string& root);

} // namespace plumb::platform
