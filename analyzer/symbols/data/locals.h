// Names for what code touches through its own variables: locals on the stack, and what pointers point to.
#pragma once

#include "model/source_resolver.h"
#include "symbols/data/frames.h"
#include "symbols/elf/elf_image.h"

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <optional>
#include <vector>

namespace plumb::symbols {

// The place of an access in the code of one file.
struct CodePlace {
    const ElfImage* image = nullptr; // of the code, null: only the debug file is left
    Dwfl_Module* module = nullptr;
    Dwarf_Addr debug_bias = 0;
    uint64_t instruction = 0;      // address in the file
    std::vector<Dwarf_Die> scopes; // function first, see UnitFunctions::scopes_at; not empty
};

// The variable of the function, or of what was inlined there, that access.address lies in. Needs access.frame_address,
// or an operand based on the register that the canonical frame address is computed from.
std::optional<model::DataName> name_local(const CodePlace& place, const model::DataAccess& access);

// What the base register of the operand points to, by the variable that lives in that register there or was just
// loaded into it. Where none does: the only pointer to a structure of the function for which the place in the heap
// block is that of a whole member as wide as the access.
std::optional<model::DataName> name_by_type(const CodePlace& place, const model::DataAccess& access);

} // namespace plumb::symbols
