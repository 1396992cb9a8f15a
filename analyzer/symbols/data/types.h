// How data is laid out, as the types of debug info tell it. Debug info may be damaged: every walk is bounded.
#pragma once

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <string>

namespace plumb::symbols {

struct SourcePlace {
    std::string file; // empty: not known
    uint32_t line = 0;
};

// Where `die` (or what it is a copy of) is declared.
SourcePlace place_of(Dwarf_Die* die);

bool is_fortran(Dwarf_Die* die); // of a unit in that language

// The type of a variable or member, or what a pointer points to; names (typedef) and qualifiers (const) peeled off.
std::optional<Dwarf_Die> type_of(Dwarf_Die* die);

// The typedef through which `die` names an unnamed structure; empty: it has a name, or there is none.
std::string alias_of(Dwarf_Die* die);

bool is_structure(Dwarf_Die* type); // structure, class or union
bool is_pointer(Dwarf_Die* type);   // or reference

uint64_t size_of(Dwarf_Die* type); // bytes; 0: not known

// What the ABI of x86-64 asks for: 1 for a packed structure. 0: not known.
uint32_t alignment_of(Dwarf_Die* type);

// As in the source: "double", "struct record", "struct record[4][2]", "real(kind=8)(1024)", "char*".
// `alias`: what an unnamed structure is called.
std::string name_of_type(Dwarf_Die* type, const std::string& alias = {});

// A member of a structure, as a range of bytes.
struct MemberRange {
    uint64_t offset = 0, bytes = 0; // bytes 0: not known
    bool bit_field = false;
};
std::optional<MemberRange> range_of_member(Dwarf_Die* member); // none: a static one, or a place known only at run time

// Its members do not lie where their types would lie: the structure was packed.
bool is_packed(Dwarf_Die* structure);

} // namespace plumb::symbols
