#include "analyses/lines/source_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace plumb {

namespace {

constexpr uintmax_t kLargestFile = 16 << 20;
constexpr size_t kLongestLine = 240;

std::vector<std::string> read_lines(const std::string& path) {
    std::error_code error;
    std::vector<std::string> lines;
    if (!path.starts_with('/') || !std::filesystem::is_regular_file(path, error) ||
        std::filesystem::file_size(path, error) > kLargestFile || error)
        return lines;
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
        if (line.ends_with('\r'))
            line.pop_back();
        lines.push_back(line.substr(0, kLongestLine));
    }
    return lines;
}

// Tabs would be shown as one blank: columns of 4 keep the shape of the code.
std::string expanded(const std::string& line) {
    std::string text;
    for (char letter : line)
        if (letter == '\t')
            text.append(4 - text.size() % 4, ' ');
        else
            text += letter;
    return text;
}

} // namespace

SourceExcerpt SourceFiles::excerpt(const std::string& file, uint32_t line, uint32_t context) {
    SourceExcerpt excerpt;
    const std::vector<std::string>& lines = lines_of(file);
    if (line == 0 || line > lines.size())
        return excerpt;
    excerpt.first_line = line > context ? line - context : 1;
    const size_t last = std::min<size_t>(lines.size(), static_cast<size_t>(line) + context);
    for (size_t number = excerpt.first_line; number <= last; number++)
        excerpt.lines.push_back(expanded(lines[number - 1]));
    return excerpt;
}

const std::vector<std::string>& SourceFiles::lines_of(const std::string& file) {
    auto found = files_.find(file);
    if (found == files_.end())
        found = files_.emplace(file, may_show_ && may_show_(file) ? read_lines(file) : std::vector<std::string>()).first;
    return found->second;
}

} // namespace plumb
