// The sections of an ELF file that hold call-frame information, for files whose loader gets no table of it: .debug_frame, which is
// part of the debug info (C without unwind tables, assembler, Go), and the .eh_frame of programs that were linked statically.
#pragma once

#include "unwind/elf_source.h"

#include <cstdint>
#include <vector>

namespace plumb::unwind {

struct FrameSection {
    std::vector<unsigned char> bytes; // uncompressed
    uint64_t address = 0;             // that the linker gave to the first one; of .debug_frame: 0
    bool is_debug = false;            // .debug_frame
};

// Those of an ELF file of this word size, .eh_frame only on demand. Any content is safe: nothing where it is damaged.
std::vector<FrameSection> read_frame_sections(const ElfSource& source, bool eh_frame_too);

} // namespace plumb::unwind
