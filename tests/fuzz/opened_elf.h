// The program whose sections are the parts of an input, opened as the analyzer opens it. One at a time.
#pragma once

#include "elf_parts.h"
#include "memory_file.h"

#include "symbols/elf/debug_files.h"
#include "symbols/file_symbols.h"

namespace plumb::fuzz {

struct OpenedElf {
    explicit OpenedElf(Bytes parts) : elf(elf_of_parts(parts)), code(code_of_elf(elf)) {
        static MemoryFile file;
        file.fill(elf);
        path = file.path();
        image = symbols::ElfImage::open(path);
        require(image != nullptr);
    }

    std::vector<uint8_t> elf;
    Span code;
    std::string path;
    std::unique_ptr<symbols::ElfImage> image;
};

// No debug info is looked for but the program's own.
inline const symbols::DebugFileSearch nowhere{"", {}, false};

} // namespace plumb::fuzz
