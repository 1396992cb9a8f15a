#include "elf_parts.h"
#include "memory_file.h"
#include "target.h"

#include "symbols/dwarf/code_of_sources.h"
#include "symbols/elf/debug_files.h"
#include "symbols/file_symbols.h"

namespace plumb::fuzz {

void run_line_tables(Bytes input) {
    static MemoryFile file;
    static const symbols::DebugFileSearch nowhere{"", {}, false};
    const std::vector<uint8_t> elf = elf_of_parts(input);
    file.fill(elf);
    const auto image = symbols::ElfImage::open(file.path());
    require(image != nullptr);
    if (!image->has_debug_info()) // it would be looked for elsewhere
        return;
    uint64_t last = 0;
    for (const symbols::CodeRange& range : symbols::code_of_sources(file.path(), {"*.cpp", "a?[bc]"})) {
        require(range.begin < range.end && (last == 0 || range.begin > last));
        last = range.end;
    }
    symbols::FileSymbols symbols(nowhere, image.get(), nullptr);
    const Span code = code_of_elf(elf);
    for (uint64_t i = 0; i < 16; ++i)
        for (const model::SourceFrame& frame : symbols.frames_at(code.begin + (code.end - code.begin) * i / 16))
            require(frame.file.size() <= 4 * input.size());
}

Seeds seeds_of_line_tables() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
