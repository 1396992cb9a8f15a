// Lines of /proc/PID/maps.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

struct Mapping {
    uint64_t start, end; // first address, first behind it
    uint64_t file_offset;
    uint64_t device; // major << 32 | minor
    uint64_t inode;
    bool executable;
    bool writable;
    bool shared;      // what is written goes to the file or to other processes
    bool deleted;     // the path ended in " (deleted)", which was cut off
    const char* path; // into the line; "" for anonymous memory
    size_t path_length;
};

// The path as the kernel writes it; recognises " (deleted)".
void set_path(Mapping* mapping, const char* path, size_t length);

// Parses the line [line, end) without its newline; false: not such a line.
bool parse_mapping(const char* line, const char* end, Mapping* mapping);

// Calls `each` for every mapping of `path` ("/proc/self/maps") until it returns false. `buffer` must hold at least
// one whole line (4,096 bytes of path and 100 more); longer lines are skipped. Returns 0 or a negative error number.
int for_each_mapping(const char* path, char* buffer, size_t bytes, bool (*each)(const Mapping&, void*), void* data);

} // namespace plumb::shim
