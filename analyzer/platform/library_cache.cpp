#include "platform/library_cache.h"

#include "platform/read_file.h"

#include <cstdint>
#include <cstring>

namespace plumb::platform {

namespace {

constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr size_t kCacheHeaderBytes = 48,
                 kCacheEntryBytes = 24; // struct cache_file_new and file_entry_new of glibc's dl-cache.h
constexpr size_t kMostCacheBytes = 64 << 20;

// FLAG_ELF_LIBC6 in the low byte, the kind of program above it.
#if defined(__x86_64__)
constexpr uint32_t kOwnKind = 0x0303;
#elif defined(__aarch64__)
constexpr uint32_t kOwnKind = 0x0a03;
#else
constexpr uint32_t kOwnKind = 0x0003;
#endif

uint32_t word_at(std::string_view content, size_t offset) {
    uint32_t word = 0;
    if (offset + sizeof word <= content.size())
        std::memcpy(&word, content.data() + offset, sizeof word);
    return word;
}

std::string_view text_at(std::string_view content, size_t offset) {
    if (offset >= content.size())
        return {};
    const std::string_view rest = content.substr(offset);
    const size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

} // namespace

std::vector<CachedLibrary> parse_library_cache(std::string_view content) {
    const size_t begin = content.find(kCacheMagic); // an older form may stand before it
    if (begin == std::string_view::npos)
        return {};
    content.remove_prefix(begin);
    std::vector<CachedLibrary> libraries;
    const size_t count = word_at(content, kCacheMagic.size());
    for (size_t i = 0; i < count; ++i) {
        const size_t entry = kCacheHeaderBytes + i * kCacheEntryBytes;
        if (entry + kCacheEntryBytes > content.size())
            return {};
        const std::string_view name = text_at(content, word_at(content, entry + 4)),
                               path = text_at(content, word_at(content, entry + 8));
        if (word_at(content, entry) == kOwnKind && !name.empty() && path.starts_with('/'))
            libraries.push_back({std::string(name), std::string(path)});
    }
    return libraries;
}

std::vector<CachedLibrary> read_library_cache(const std::string& root) {
    return parse_library_cache(read_file(root + "/etc/ld.so.cache", kMostCacheBytes).value_or(""));
}

} // namespace plumb::platform
