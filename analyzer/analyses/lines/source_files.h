// A few lines of a source file, where it is at hand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

struct SourceExcerpt {
    uint32_t first_line = 0; // number of lines[0]
    std::vector<std::string> lines;
};

class SourceFiles {
  public:
    // `may_show`: whether lines of a file may stand in a report; files for which it is false are not opened.
    explicit SourceFiles(std::function<bool(const std::string& file)> may_show) : may_show_(std::move(may_show)) {}

    // Lines line-context to line+context of `file`, fewer at its ends. Empty when it is not at hand, not a
    // regular file, larger than 16 MiB, or shorter than `line`. Keeps the files it read. Relative paths are
    // not tried: they are relative to where the program was compiled.
    SourceExcerpt excerpt(const std::string& file, uint32_t line, uint32_t context);

    // All lines of `file`, each cut at 240 bytes; empty for the same reasons.
    const std::vector<std::string>& lines_of(const std::string& file);

  private:
    std::function<bool(const std::string&)> may_show_;
    std::map<std::string, std::vector<std::string>> files_;
};

} // namespace plumb
