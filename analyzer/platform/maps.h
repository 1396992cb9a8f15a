// /proc/PID/maps: the mappings of a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

struct Mapping {
    uint64_t start = 0, end = 0, file_offset = 0;
    uint64_t device = 0; // major << 32 | minor
    uint64_t inode = 0;
    bool executable = false, writable = false, shared = false;
    std::string path; // "" anonymous, "[vdso]", "/lib/x.so", "/tmp/x (deleted)"; as the kernel escapes it
};

std::optional<Mapping> parse_mapping(std::string_view line);

// Empty if the process is gone or may not be looked at.
std::vector<Mapping> read_executable_mappings(const std::string& root, uint32_t pid);

// All of them, in ascending order. The same if it is gone.
std::vector<Mapping> read_mappings(const std::string& root, uint32_t pid);

} // namespace plumb::platform
