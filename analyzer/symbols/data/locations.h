// Where a variable lies, as its location expression tells it at one instruction.
#pragma once

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>

namespace plumb::symbols {

struct Location {
    enum class Base {
        absolute,     // an address of the debug info's own address space
        thread_local_offset,
        frame,        // the canonical frame address
        frame_base,   // what DW_AT_frame_base of the function says
        register_value,
    };
    Base base = Base::absolute;
    int register_number = -1; // DWARF number, of register_value
    int64_t offset = 0;
    // What the sum of base and offset is: the address of the variable, the address of a pointer to it (a Fortran dummy
    // argument in its home on the stack), or the variable's value itself.
    enum class Meaning { address, address_of_address, value };
    Meaning meaning = Meaning::address;
};

// The DW_AT_location of `variable` when `address` runs (0: a location that holds everywhere). Nothing: it has none
// there, or one that is made of pieces or more complicated than compilers make for what lies in memory.
std::optional<Location> location_at(Dwarf_Die* variable, uint64_t address);

// The frame base of a function in the same form, never `frame_base` itself.
std::optional<Location> frame_base_of(Dwarf_Die* function, uint64_t address);

} // namespace plumb::symbols
