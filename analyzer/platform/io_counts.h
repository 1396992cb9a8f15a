// How often and how much a process reads and writes: /proc/PID/io.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumb::platform {

// By read, write and their kin (pread, readv, ...), of files, pipes and sockets; those of ended children that it waited for
// included. Other ways to move data (mappings, recv, sendfile) are not counted.
struct IoCounts {
    uint64_t read_calls = 0, read_bytes = 0;
    uint64_t write_calls = 0, write_bytes = 0;
};

IoCounts parse_io_counts(std::string_view text);

// Nothing: it is gone, it may not be looked at, or the kernel does not count.
std::optional<IoCounts> read_io_counts(const std::string& root, uint32_t pid);

} // namespace plumb::platform
