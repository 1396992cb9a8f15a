// A file that is nowhere but in memory, for parsers that take a path. One file holds one input after the other.
#pragma once

#include "target.h"

#include <string>

namespace plumb::fuzz {

class MemoryFile {
  public:
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    const std::string& path() const { return path_; }
    void fill(Bytes content);         // instead of what it held
    int descriptor_at_start() const;  // a new one, which reads from the beginning

  private:
    int fd_;
    std::string path_;
};

// A folder in memory, private to this process and removed at its end.
const std::string& scratch_folder();

} // namespace plumb::fuzz
