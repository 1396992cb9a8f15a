// What earlier runs measured on this machine (what a sample costs, how the machine is built), kept in one file of the user's
// cache directory, so that a run does not measure again what stays the same until the machine starts anew.
//
// It is a private file (private_file.h), and a checksum covers all of it. Whatever is wrong with it, it reads as empty.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace plumb::platform {

// What the figures depend on: kernel, boot, model and microcode of the CPU. What also depends on the version of plumb must
// be kept under another name by each. `root` is put before /proc. Empty where the kernel does not report its boot: nothing
// is kept then.
std::string machine_identity(const std::string& root);

class MachineCache {
  public:
    // Reads nothing yet. `host`: hosts that share a home directory have a file each. Without a folder or a machine every
    // lookup finds nothing and nothing is written.
    MachineCache(std::string folder, std::string host, std::string machine);
    static MachineCache of_this_machine();

    std::optional<std::string> find(const std::string& name); // nothing: not measured since the machine started
    void keep(const std::string& name, std::string value);    // at most 256 KiB; larger ones are not kept

    // Writes what was kept, beside what others have kept meanwhile. A file that would become larger than kMostBytes begins anew
    // with what was kept here: figures grow old, and are not removed one by one. Failures are ignored: it is measured again.
    void save();

    // What stands in such a file, without the file. Reading: empty for whatever is wrong with it.
    using Values = std::map<std::string, std::string, std::less<>>;
    static constexpr size_t kMostBytes = 1 << 20;
    static std::string format(const Values& values, const std::string& machine);
    static std::string pack(const std::string& plain); // with its checksum
    static std::string unpack(const std::string& file);
    static Values parse(std::string_view plain, std::string_view machine);

  private:
    Values load() const;

    const std::string folder_, file_, machine_;
    bool is_loaded_ = false;
    Values values_, kept_;
};

} // namespace plumb::platform
