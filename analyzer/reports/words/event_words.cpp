#include "reports/words/event_words.h"

#include "support/figures.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace plumb {

std::string event_title(const SampledEventRow& row) {
    std::string title = row.event;
    if (!title.empty())
        title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    return fmt::format("{} by source line, {}", title, counted(row.samples, "sample", "samples"));
}

std::string event_threads(const SampledEventRow& row, size_t limit) {
    if (row.threads.size() < 2)
        return {};
    std::string text = "by thread: ";
    const size_t shown = std::min(row.threads.size(), limit);
    for (size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{} ({}) {}", i == 0 ? "" : ", ", row.threads[i].name, row.threads[i].tid,
                            format_fraction(row.threads[i].fraction));
    return row.threads.size() > shown ? fmt::format("{}, and {} more", text, row.threads.size() - shown) : text;
}

} // namespace plumb
