// Which source files a report may quote. Debug info and run directories come from anywhere, and a report is passed on:
// what it quotes must be source code of the build, not any file that this user can read.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb::symbols {

// Whether the program or library at `path` is one that this user or the system installed here: an absolute path to a
// regular file of this user or root, outside of the run directory, which may have been brought along with it.
bool is_own_program(const std::string& path, const std::string& run_directory);

// Whether a file that debug info names looks like source code of this user or the system: an absolute path whose end,
// after following links, is a regular file of this user or root, with the suffix of a programming language, neither
// below a hidden folder nor where the kernel, devices and settings are (/proc, /sys, /dev, /run, /etc).
bool is_plain_source(const std::string& path);

class ShownSources {
  public:
    // What the user himself named, as .second of a source map or as the sysroot, is shown whatever its owner.
    ShownSources(const std::vector<std::pair<std::string, std::string>>& source_maps, const std::string& sysroot);

    // A file named by the debug info of an own program.
    void add(const std::string& file) { files_.insert(file); }

    bool may_show(const std::string& file) const;

  private:
    std::vector<std::string> folders_;
    std::set<std::string> files_;
};

} // namespace plumb::symbols
