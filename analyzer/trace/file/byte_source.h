// Where the bytes of a trace come from. Files are read, never mapped: one that shrinks while it is read must cost
// a short read and not a signal, and a large one must not cost its size in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plumb::trace {

inline constexpr uint64_t kStatBlockBytes = 512; // the unit of st_blocks, whatever the file system's own

class ByteSource {
  public:
    virtual ~ByteSource() = default;

    // Bytes there when it was opened.
    virtual uint64_t size() const = 0;

    // How many of them can be something else than zeros: what a bound on memory may rest on, since size() costs the
    // writer of a file nothing.
    virtual uint64_t stored_bytes() const = 0;

    // Reads up to `into.size()` bytes at `offset`; returns how many there were. Throws plumb::Error when the
    // operating system refuses.
    virtual size_t read(uint64_t offset, std::span<std::byte> into) const = 0;

    // First offset at or after `offset` that may hold something else than zeros; size() when there is none. Skips
    // the holes of a sparse file, which can be far larger than any disk.
    virtual uint64_t next_data(uint64_t offset) const = 0;
};

// A regular file. Throws plumb::Error when it cannot be opened or is something else (a pipe, a directory).
std::unique_ptr<ByteSource> open_file(const std::string& path);

// Bytes that somebody else keeps alive.
std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes);

} // namespace plumb::trace
