// The loader's cache, as far as this machine's own kind of program goes.
#include "platform/library_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

using namespace plumb::platform;

namespace {

void put_word(std::string& text, uint32_t word) {
    text.append(reinterpret_cast<const char*>(&word), sizeof word);
}

#if defined(__x86_64__)
constexpr uint32_t kHere = 0x0303, kElsewhere = 0x0a03;
#else
constexpr uint32_t kHere = 0x0a03, kElsewhere = 0x0303;
#endif

struct Entry {
    uint32_t kind;
    std::string name, path;
};

std::string cache_of(const std::vector<Entry>& entries) {
    std::string text = "glibc-ld.so.cache1.1", strings;
    put_word(text, static_cast<uint32_t>(entries.size()));
    put_word(text, 0);
    text.resize(48);
    const size_t begin = 48 + 24 * entries.size();
    for (const Entry& entry : entries) {
        put_word(text, entry.kind);
        put_word(text, static_cast<uint32_t>(begin + strings.size()));
        strings += entry.name + '\0';
        put_word(text, static_cast<uint32_t>(begin + strings.size()));
        strings += entry.path + '\0';
        text.append(12, '\0');
    }
    return text + strings;
}

} // namespace

TEST_CASE("libraries of other kinds of programs are left out of the loader's cache") {
    const std::string cache = cache_of({{kHere, "libz.so.1", "/lib/libz.so.1"},
                                        {kElsewhere, "libz.so.1", "/arm/libz.so.1"},
                                        {kHere, "liba.so", "/lib/liba.so"}});
    const std::vector<CachedLibrary> libraries = parse_library_cache(cache);
    REQUIRE(libraries.size() == 2);
    CHECK(libraries[0].path == "/lib/libz.so.1");
    CHECK(libraries[1].name == "liba.so");
    CHECK(parse_library_cache("ld.so-1.7.0 and more" + cache).size() == 2); // behind the older form
}

TEST_CASE("a cache that is cut off or no cache has no libraries") {
    const std::string cache = cache_of({{kHere, "libz.so.1", "/lib/libz.so.1"}});
    CHECK(parse_library_cache("").empty());
    CHECK(parse_library_cache("glibc-ld.so.cache1.1").empty());
    for (size_t length = 0; length < cache.size() - 1; ++length)
        CHECK(parse_library_cache(std::string_view(cache).substr(0, length)).empty());
}
