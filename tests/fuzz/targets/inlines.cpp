#include "elf_parts.h"
#include "memory_file.h"
#include "target.h"

#include "symbols/elf/debug_files.h"
#include "symbols/file_symbols.h"

namespace plumb::fuzz {

// Functions and what was inlined into them, and the variables that their code uses.
void run_inlines(Bytes input) {
    static MemoryFile file;
    static const symbols::DebugFileSearch nowhere{"", {}, false};
    const std::vector<uint8_t> elf = elf_of_parts(input);
    file.fill(elf);
    const auto image = symbols::ElfImage::open(file.path());
    require(image != nullptr);
    symbols::FileSymbols symbols(nowhere, image.get(), nullptr);
    const Span code = code_of_elf(elf);
    for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t address = code.begin + (code.end - code.begin) * i / 8;
        const std::vector<model::SourceFrame> frames = symbols.frames_at(address);
        for (size_t level = 0; level < frames.size(); ++level)
            require(frames[level].inlined == (level + 1 < frames.size()));
        model::DataAccess access;
        access.width = 8;
        access.instruction = address;
        access.code = image->code_at(address, 15);
        access.frame_address = 0x7ffe0000;
        access.address = access.frame_address - 16 * i;
        access.base_value = access.address - 8;
        access.block_start = access.base_value;
        access.block_bytes = 64;
        symbols.local_at(address, access);
        symbols.pointed_at(address, access);
    }
}

Seeds seeds_of_inlines() { return {}; } // the corpus has programs

} // namespace plumb::fuzz
