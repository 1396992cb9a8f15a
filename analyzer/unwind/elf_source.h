// Where an ELF image is read from.
#pragma once

#include <cstdint>
#include <cstring>
#include <sys/types.h>
#include <unistd.h>

namespace plumb::unwind {

// The `bytes` of a file, or of an image in memory when there is no file. Borrows both.
class ElfSource {
  public:
    ElfSource(int file, const unsigned char* memory, uint64_t bytes) : file_(file), memory_(memory), bytes_(bytes) {}

    bool holds(uint64_t offset, uint64_t bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }

    // False: it does not hold them, or they cannot be read.
    bool read(uint64_t offset, void* to, uint64_t bytes) const {
        if (!holds(offset, bytes))
            return false;
        if (bytes == 0)
            return true; // `to` may be null
        if (memory_) {
            std::memcpy(to, memory_ + offset, bytes);
            return true;
        }
        auto* at = static_cast<char*>(to);
        while (bytes > 0) {
            const ssize_t got = pread(file_, at, bytes, static_cast<off_t>(offset));
            if (got <= 0)
                return false;
            at += got;
            offset += static_cast<uint64_t>(got);
            bytes -= static_cast<uint64_t>(got);
        }
        return true;
    }

  private:
    int file_;
    const unsigned char* memory_;
    uint64_t bytes_;
};

} // namespace plumb::unwind
