#include "trial/timed_run.h"

#include <array>
#include <fstream>

namespace plumb::trial {

// Fowler, Noll, Vo: FNV-1a with 64 bits.
uint64_t fingerprint_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return kMissing;
    uint64_t hash = 0xcbf29ce484222325;
    std::array<char, 1 << 16> buffer;
    while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
        for (std::streamsize i = 0; i < file.gcount(); ++i)
            hash = (hash ^ static_cast<unsigned char>(buffer[static_cast<size_t>(i)])) * 0x100000001b3;
    return hash == kMissing ? 1 : hash;
}

} // namespace plumb::trial
