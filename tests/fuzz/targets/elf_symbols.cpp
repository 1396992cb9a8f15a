#include "elf_parts.h"
#include "memory_file.h"
#include "target.h"

#include "symbols/elf/debug_files.h"
#include "symbols/file_symbols.h"

namespace plumb::fuzz {

void run_elf_symbols(Bytes input) {
    static MemoryFile file;
    static const symbols::DebugFileSearch nowhere{"", {}, false};
    file.fill(input);
    const auto image = symbols::ElfImage::open(file.path());
    if (!image)
        return;
    symbols::FileSymbols symbols(nowhere, image.get(), nullptr);
    const Span code = code_of_elf(input);
    for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t address = code.begin + (code.end - code.begin) / 8 * i;
        for (const model::SourceFrame& frame : symbols.frames_at(address))
            require(frame.function.size() <= (1 << 20) + 16 * input.size());
        symbols.function_start(address);
        symbols.static_at(address, 8, 0);
    }
    for (const symbols::Section& section : image->sections())
        if (!section.executable) // data
            symbols.static_at(section.address + section.bytes / 2, 4, code.begin);
}

Seeds seeds_of_elf_symbols() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
