#include "probe/measure/disk.h"

#include "platform/anonymous_memory.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"
#include "support/xorshift.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace plumb::probe {

namespace {

int make_file(const std::string& folder, std::string& path) {
    path = folder + "/.plumb-probe-XXXXXX";
    return mkostemp(path.data(), O_CLOEXEC);
}

double seconds_since(uint64_t begin_ns) { return static_cast<double>(record::monotonic_ns() - begin_ns) * 1e-9; }

// Random bytes: a file system that compresses would not store zeroes.
platform::AnonymousMemory& piece(uint64_t bytes) {
    static platform::AnonymousMemory memory(bytes);
    if (memory && memory.data()[0] == 0) {
        Xorshift random;
        for (uint64_t at = 0; at < bytes; at += sizeof(uint64_t))
            *reinterpret_cast<uint64_t*>(memory.data() + at) = random.next() | 1;
    }
    return memory;
}

} // namespace

Disk::Disk(const std::string& folder)
    : buffered_([&] {
          turns.folder = folder;
          std::string path;
          const int fd = make_file(folder, path);
          if (fd < 0)
              turns.why_not = fmt::format("no file can be made in {}: {}", folder, std::strerror(errno));
          return fd;
      }()),
      direct_([&] {
          if (!buffered_)
              return -1;
          const std::string name = fmt::format("/proc/self/fd/{}", buffered_.get());
          const int fd = open(name.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC); // refused where the file system does not know it
          turns.is_direct = fd >= 0;
          return fd;
      }()) {
    char path[4096];
    if (!buffered_)
        return;
    const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", buffered_.get()).c_str(), path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        unlink(path);
    }
}

bool Disk::write_piece(uint64_t at, uint64_t bytes) {
    platform::AnonymousMemory& memory = piece(kPiece);
    for (uint64_t done = 0; memory && done < bytes;) {
        const ssize_t written = pwrite(buffered_.get(), memory.data() + done, bytes - done, static_cast<off_t>(at + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            turns.why_not = fmt::format("writing to {} failed: {}", turns.folder, std::strerror(errno));
            return false;
        }
        done += static_cast<uint64_t>(written);
    }
    if (fdatasync(buffered_.get()) == 0)
        return memory.data() != nullptr;
    turns.why_not = fmt::format("storing what was written to {} failed: {}", turns.folder, std::strerror(errno));
    return false;
}

void Disk::round() {
    if (!buffered_ || is_full_)
        return;
    const uint64_t place = rounds_ % kPieces * kPiece;
    uint64_t begin_ns = record::monotonic_ns();
    is_full_ = !write_piece(place, kPiece);
    if (is_full_)
        return;
    turns.write_bytes_per_s.push_back(static_cast<double>(kPiece) / seconds_since(begin_ns));
    ++rounds_;
    begin_ns = record::monotonic_ns();
    is_full_ = !write_piece(kPieces * kPiece, kPage);
    if (is_full_)
        return;
    turns.sync_s.push_back(seconds_since(begin_ns));

    platform::AnonymousMemory into(kPiece);
    const int fd = turns.is_direct ? direct_.get() : buffered_.get();
    posix_fadvise(fd, static_cast<off_t>(place), kPiece, POSIX_FADV_DONTNEED);
    begin_ns = record::monotonic_ns();
    const ssize_t got = into ? pread(fd, into.data(), kPiece, static_cast<off_t>(place)) : -1;
    if (got == static_cast<ssize_t>(kPiece))
        turns.read_bytes_per_s.push_back(static_cast<double>(kPiece) / seconds_since(begin_ns));
    else if (got < 0 && errno == EINVAL)
        turns.is_direct = false; // its blocks are larger than this memory is aligned to
}

} // namespace plumb::probe
