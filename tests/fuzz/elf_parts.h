// Inputs that are the sections of an ELF file: the headers around them are put right, so that every change of an input reaches
// those who read the sections.
#pragma once

#include "target.h"

#include <optional>

namespace plumb::fuzz {

// `parts`: number of a section in the table of elf_parts.cpp, its address (4 bytes), its length (2 bytes), its content; and so
// on. An executable of x86-64; code is mapped where .text says.
std::vector<uint8_t> elf_of_parts(Bytes parts);

// The other way: what of the sections of an ELF file the table knows.
std::string parts_of_elf(Bytes elf);

// Where an ELF file of 64 bits says that its code is mapped: the first and the last address.
struct Span {
    uint64_t begin = 0, end = 0;
};
Span code_of_elf(Bytes elf);

} // namespace plumb::fuzz
