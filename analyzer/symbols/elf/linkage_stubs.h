// Procedure linkage table: the small stubs through which calls leave a file.
#pragma once

#include "symbols/elf/elf_image.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::symbols {

struct LinkageStub {
    uint64_t begin = 0, end = 0;
    std::string symbol;    // linker symbol it jumps to; empty for the resolver of an IFUNC
    uint64_t resolver = 0; // then: address of that resolver in this file
};

// By begin; empty on processors other than x86-64. Each stub is recognised by its indirect jump, so all layouts
// (.plt, .plt.sec, .plt.got, with and without endbr64) are read alike.
std::vector<LinkageStub> read_linkage_stubs(const ElfImage& image);

} // namespace plumb::symbols
