// One unrecorded run: how long it took, and what it left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::trial {

inline constexpr uint64_t kMissing = 0; // instead of a fingerprint: there is no such file

struct TimedRun {
    double wall_s = 0, cpu_s = 0;
    uint64_t resident_bytes = 0; // 0: not known
    int exit_status = 0;
    std::vector<uint64_t> fingerprints; // of stdout, then of the files that are compared, in their order
};

// Of a file's contents and size, never kMissing for one that can be read. Two files with the same have the same contents,
// unless somebody made them to that end.
uint64_t fingerprint_of(const std::string& path);

} // namespace plumb::trial
