#include "opened_elf.h"

#include "symbols/dwarf/code_of_sources.h"

namespace plumb::fuzz {

void run_line_tables(Bytes input) {
    const OpenedElf program(input);
    if (!program.image->has_debug_info()) // it would be looked for elsewhere
        return;
    uint64_t last = 0;
    for (const symbols::CodeRange& range : symbols::code_of_sources(program.path, {"*.cpp", "a?[bc]"})) {
        require(range.begin < range.end && (last == 0 || range.begin > last));
        last = range.end;
    }
    symbols::FileSymbols symbols(nowhere, program.image.get(), nullptr);
    const Span code = program.code;
    for (uint64_t i = 0; i < 16; ++i)
        for (const model::SourceFrame& frame : symbols.frames_at(code.begin + (code.end - code.begin) * i / 16))
            require(frame.file.size() <= 4 * input.size());
}

Seeds seeds_of_line_tables() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
