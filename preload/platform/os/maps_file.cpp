#include "platform/os/maps_file.h"

#include "platform/os/files.h"

#include <string.h>

namespace plumb::shim {
namespace {

bool parse_hex(const char*& p, const char* end, char until, uint64_t* number) {
    const char* begin = p;
    for (*number = 0; p < end && *p != until; ++p) {
        const char c = *p;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0 || p - begin >= 16)
            return false;
        *number = *number << 4 | static_cast<uint64_t>(digit);
    }
    if (p == begin || p == end)
        return false;
    ++p;
    return true;
}

} // namespace

void set_path(Mapping* mapping, const char* path, size_t length) {
    constexpr char kDeleted[] = " (deleted)";
    constexpr size_t mark = sizeof kDeleted - 1;
    mapping->path = path;
    mapping->deleted = length > mark && memcmp(path + length - mark, kDeleted, mark) == 0;
    mapping->path_length = mapping->deleted ? length - mark : length;
}

bool parse_mapping(const char* line, const char* end, Mapping* mapping) {
    const char* p = line;
    uint64_t major, minor;
    if (!parse_hex(p, end, '-', &mapping->start) || !parse_hex(p, end, ' ', &mapping->end) || end - p < 5)
        return false;
    mapping->executable = p[2] == 'x';
    mapping->writable = p[1] == 'w';
    mapping->shared = p[3] == 's';
    p += 5;
    if (!parse_hex(p, end, ' ', &mapping->file_offset) || !parse_hex(p, end, ':', &major) ||
        !parse_hex(p, end, ' ', &minor))
        return false;
    mapping->device = major << 32 | minor;
    mapping->inode = 0;
    for (; p < end && *p >= '0' && *p <= '9'; ++p)
        mapping->inode = mapping->inode * 10 + static_cast<uint64_t>(*p - '0');
    while (p < end && *p == ' ')
        ++p;
    set_path(mapping, p, static_cast<size_t>(end - p));
    return true;
}

int for_each_mapping(const char* path, char* buffer, size_t bytes, bool (*each)(const Mapping&, void*), void* data) {
    const int descriptor = open_file(path, O_RDONLY);
    if (descriptor < 0)
        return descriptor;
    size_t held = 0;
    bool going = true;
    long got = 0;
    while (going && (got = read_file(descriptor, buffer + held, bytes - held)) > 0) {
        held += static_cast<size_t>(got);
        char* line = buffer;
        while (going) {
            char* end = static_cast<char*>(memchr(line, '\n', held - static_cast<size_t>(line - buffer)));
            if (!end)
                break;
            Mapping mapping;
            if (parse_mapping(line, end, &mapping))
                going = each(mapping, data);
            line = end + 1;
        }
        held -= static_cast<size_t>(line - buffer);
        memmove(buffer, line, held);
        if (held == bytes)
            held = 0;
    }
    close_file(descriptor);
    return got < 0 ? static_cast<int>(got) : 0;
}

} // namespace plumb::shim
