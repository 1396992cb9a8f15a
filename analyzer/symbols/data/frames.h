// Where things lie in the frame of a function, measured from its canonical frame address (CFA).
#pragma once

#include "symbols/data/locations.h"

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <optional>
#include <vector>

namespace plumb::symbols {

class DataFrame {
  public:
    // At the instruction `address` (in the file) of `function`; the debug info's addresses are smaller by `debug_bias`.
    DataFrame(Dwfl_Module* module, uint64_t address, Dwarf_Addr debug_bias, Dwarf_Die function);

    // What the register holds minus the CFA: known of the stack pointer and the frame pointer as far as the call frame
    // information says how the CFA is computed from them.
    std::optional<int64_t> offset_of_register(int register_number) const;

    // The same of the address that `location` computes; nothing if it has nothing to do with the frame.
    std::optional<int64_t> offset_of(const Location& location) const;

  private:
    int cfa_register_ = -1; // CFA = register + cfa_offset_; -1: not known, or not as simple
    int64_t cfa_offset_ = 0;
    std::optional<Location> frame_base_;
};

} // namespace plumb::symbols
