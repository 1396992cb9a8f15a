#include "trace/file/byte_source.h"

#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::trace {

namespace {

class FileSource : public ByteSource {
  public:
    explicit FileSource(const std::string& path) : path_(path) {
        // Somebody else may have left a link to a device there: opening that can do something to it. O_NONBLOCK: nor may a
        // pipe be waited for that came there meanwhile.
        struct stat status;
        if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
            throw Error(fmt::format("{} is not a regular file: not read", path));
        descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (descriptor_ < 0)
            throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
        if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
            close(descriptor_);
            throw Error(fmt::format("{} is not a regular file: not read", path));
        }
        size_ = static_cast<uint64_t>(status.st_size);
        stored_bytes_ = std::min(size_, static_cast<uint64_t>(status.st_blocks) * kStatBlockBytes);
    }
    ~FileSource() override { close(descriptor_); }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    uint64_t size() const override { return size_; }
    uint64_t stored_bytes() const override { return stored_bytes_; }

    size_t read(uint64_t offset, std::span<std::byte> into) const override {
        size_t done = 0;
        while (done < into.size()) {
            const off_t at = static_cast<off_t>(offset + done);
            const ssize_t got = pread(descriptor_, into.data() + done, into.size() - done, at);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                throw Error(fmt::format("cannot read {} at offset {}: {}", path_, at, std::strerror(errno)));
            if (got == 0)
                break;
            done += static_cast<size_t>(got);
        }
        return done;
    }

    uint64_t next_data(uint64_t offset) const override {
        if (offset >= size_)
            return size_;
        const off_t found = lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
        if (found >= 0)
            return std::min(size_, static_cast<uint64_t>(found));
        return errno == ENXIO ? size_ : offset; // ENXIO: only holes follow; else the file system cannot tell
    }

  private:
    std::string path_;
    int descriptor_ = -1;
    uint64_t size_ = 0, stored_bytes_ = 0;
};

class MemorySource : public ByteSource {
  public:
    explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

    uint64_t size() const override { return bytes_.size(); }
    uint64_t stored_bytes() const override { return bytes_.size(); }

    size_t read(uint64_t offset, std::span<std::byte> into) const override {
        if (offset >= bytes_.size())
            return 0;
        const size_t count = std::min<uint64_t>(into.size(), bytes_.size() - offset);
        std::memcpy(into.data(), bytes_.data() + offset, count);
        return count;
    }

    uint64_t next_data(uint64_t offset) const override { return std::min<uint64_t>(offset, bytes_.size()); }

  private:
    std::span<const std::byte> bytes_;
};

} // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) { return std::make_unique<FileSource>(path); }

std::unique_ptr<ByteSource> open_memory(std::span<const std::byte> bytes) {
    return std::make_unique<MemorySource>(bytes);
}

} // namespace plumb::trace
