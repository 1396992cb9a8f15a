// Files that plumb keeps for itself between runs, in a folder of the user's cache directory.
//
// Nothing in them is trusted further than the user is: folder and file must belong to this user and be closed to everybody
// else, and links are not followed.
#pragma once

#include <string>
#include <string_view>

namespace plumb::platform {

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

// `plumb` below $XDG_CACHE_HOME or $HOME/.cache; empty: neither is set, or it belongs to another user (sudo).
std::string user_cache_folder();

// `prefix` and the host's name: hosts that share a home directory have a file each.
std::string name_for_host(std::string_view prefix, std::string host);
std::string name_for_this_host(std::string_view prefix);

// For reading; negative: there is none, or others could have written it.
int open_private_file(const std::string& folder, const std::string& name);

// Puts a new file in the place of the old one, or leaves that as it is: readers see one of the two whole. What earlier writers of
// it left unfinished is removed.
bool write_private_file(const std::string& folder, const std::string& name, std::string_view content);

} // namespace plumb::platform
