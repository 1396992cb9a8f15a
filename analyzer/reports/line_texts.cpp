#include "reports/line_texts.h"

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

std::string leaf_text(const HotLine& line) {
    std::string text;
    if (line.leaf_function != line.frame.function && !line.leaf_function.empty())
        text = "in " + line.leaf_function;
    if (line.leaf_module != line.frame.module && !line.leaf_module.empty())
        text += (text.empty() ? "in " : " of ") + line.leaf_module;
    return text;
}

} // namespace plumb
