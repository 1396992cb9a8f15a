#include "feed.h"
#include "memory_file.h"
#include "target.h"

#include "analyses/lines/source_files.h"

namespace plumb::fuzz {

void run_source_excerpt(Bytes input) {
    static MemoryFile file;
    Feed feed(input);
    const auto line = feed.number<uint16_t>();
    const uint32_t context = feed.number<uint8_t>() % 8;
    file.fill(feed.rest());
    SourceFiles sources([](const std::string&) { return true; });
    for (const uint32_t each : {uint32_t{line}, 1u, UINT32_MAX}) {
        const SourceExcerpt excerpt = sources.excerpt(file.path(), each, context);
        require(excerpt.lines.size() <= 2 * context + 1);
        for (const std::string& text : excerpt.lines)
            require(text.find('\n') == text.npos && text.size() <= 4 * 240);
    }
    require(SourceFiles([](const std::string&) { return false; }).excerpt(file.path(), 1, 3).lines.empty());
}

Seeds seeds_of_source_excerpt() {
    const auto seed = [](uint16_t line, std::string_view text) { return Food().number(line).number(uint8_t{2}).bytes(text); };
    return {{"lines", seed(2, "int a;\r\n\tint b;\n\n\t\tint c;\n")}, {"long", seed(1, std::string(500, '\t') + "x")}};
}

} // namespace plumb::fuzz
