#include "platform/io_counts.h"

#include "platform/read_file.h"

namespace plumb::platform {

IoCounts parse_io_counts(std::string_view text) {
    IoCounts counts;
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        const size_t colon = line.find(": ");
        if (colon == std::string_view::npos)
            continue;
        const std::string_view name = line.substr(0, colon);
        const uint64_t value = to_u64(line.substr(colon + 2));
        if (name == "rchar")
            counts.read_bytes = value;
        else if (name == "wchar")
            counts.write_bytes = value;
        else if (name == "syscr")
            counts.read_calls = value;
        else if (name == "syscw")
            counts.write_calls = value;
    }
    return counts;
}

std::optional<IoCounts> read_io_counts(const std::string& root, uint32_t pid) {
    const auto text = read_file(root + "/" + std::to_string(pid) + "/io");
    return text && !text->empty() ? std::optional(parse_io_counts(*text)) : std::nullopt;
}

} // namespace plumb::platform
