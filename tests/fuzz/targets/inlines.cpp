#include "opened_elf.h"

namespace plumb::fuzz {

// Functions and what was inlined into them, and the variables that their code uses.
void run_inlines(Bytes input) {
    const OpenedElf program(input);
    symbols::FileSymbols symbols(nowhere, program.image.get(), nullptr);
    for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t address = program.code.begin + (program.code.end - program.code.begin) * i / 8;
        const std::vector<model::SourceFrame> frames = symbols.frames_at(address);
        for (size_t level = 0; level < frames.size(); ++level)
            require(frames[level].inlined == (level + 1 < frames.size()));
        model::DataAccess access;
        access.width = 8;
        access.instruction = address;
        access.code = program.image->code_at(address, 15);
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
