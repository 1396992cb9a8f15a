#include "reports/words/line_texts.h"

#include "analyses/lines/launch_command.h"
#include "reports/words/utf8.h"

#include <fmt/format.h>

namespace plumb {

std::string location_text(const Location& location) {
    std::string text;
    if (!location.file.empty())
        text = location.line ? fmt::format("{}:{}", location.file, location.line) : location.file;
    if (!location.function.empty())
        text += (text.empty() ? "" : " in ") + location.function;
    if (location.file.empty() && !location.module.empty())
        text += (text.empty() ? "unnamed code in " : " in ") + location.module;
    return text.empty() ? "place unknown" : text;
}

std::string frame_text(const model::SourceFrame& frame) {
    return location_text(Location{frame.file, frame.function, frame.module, frame.line, 0, ""});
}

std::string short_frame_text(const model::SourceFrame& frame, size_t width) {
    model::SourceFrame shorter = frame;
    std::string text = frame_text(shorter);
    size_t folder = 0;
    while (columns(text) > width && (folder = frame.file.find('/', folder + 1)) != std::string::npos) {
        shorter.file = "…" + frame.file.substr(folder);
        text = frame_text(shorter);
    }
    return text;
}

std::string more_places(size_t count) {
    return fmt::format("and {} more place{}", count, count == 1 ? "" : "s");
}

bool names_first_place(const Finding& finding) {
    if (finding.where.empty())
        return false;
    const Location& first = finding.where.front();
    return finding.subject.name == fmt::format("{}:{}", first.file, first.line) ||
           finding.subject.name == location_text(first);
}

std::string headline_of(const std::vector<std::string>& command, size_t limit) {
    const std::string line = sanitised(shell_line(command));
    size_t end = 0;
    for (size_t count = 0; end < line.size() && count < limit; count++)
        do
            end++;
        while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80);
    return end < line.size() ? line.substr(0, end) + "…" : line;
}

std::string leaf_text(const HotLine& line) {
    std::string text;
    if (line.leaf_function != line.frame.function && !line.leaf_function.empty())
        text = "in " + line.leaf_function;
    if (line.leaf_module != line.frame.module && !line.leaf_module.empty())
        text += (text.empty() ? "in " : " of ") + line.leaf_module;
    return text;
}

} // namespace plumb
