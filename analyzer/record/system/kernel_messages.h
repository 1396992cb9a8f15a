// What the kernel writes to its log while something is recorded: split locks, unaligned accesses, killed programs, machine
// checks.
#pragma once

#include <cstdint>
#include <string>

namespace plumb::record {

class KernelMessages {
  public:
    // Messages from now on go to `path`, which is made with the first. Takes the right to read the log (root, or
    // kernel.dmesg_restrict=0).
    explicit KernelMessages(std::string path);
    ~KernelMessages();
    KernelMessages(const KernelMessages&) = delete;
    KernelMessages& operator=(const KernelMessages&) = delete;

    bool works() const { return log_ >= 0; }
    const std::string& why() const { return why_; } // not

    // Takes what has come, as lines "[seconds since boot] text". Stops for good at kMostBytes.
    void take();

    static constexpr uint64_t kMostBytes = 4 << 20;

  private:
    void write_line(const char* record, size_t bytes);

    std::string path_, why_;
    int log_ = -1, file_ = -1;
    uint64_t written_ = 0;
};

} // namespace plumb::record
