// One compilation unit, opened because an address fell into it: its functions by address, what was inlined into them,
// and its line table.
#pragma once

#include "model/source_resolver.h"
#include "symbols/dwarf/nested_ranges.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::symbols {

class UnitFunctions {
  public:
    // `unit`: DIE of a DW_TAG_compile_unit or of the skeleton of a split one.
    explicit UnitFunctions(Dwarf_Die unit);

    // Frames of `address` (in the debug info's own address space), innermost first, without `module`. The outermost
    // may lack its name, and all lack names if only the line table is there. Empty: the unit knows nothing.
    std::vector<model::SourceFrame> frames_at(uint64_t address);

    // What encloses the code at `address`: its function, then inlined calls and blocks, each inside the one before.
    // Empty: no function is known there.
    std::vector<Dwarf_Die> scopes_at(uint64_t address);

    // Of the piece of a function that holds `address`; in the debug info's own address space.
    std::optional<NestedRanges::Range> function_bounds(uint64_t address);

    std::string producer() const; // DW_AT_producer, empty: not known

    // The functions are in a .dwo file that is not where the unit says: lines are known, names are not.
    bool lacks_split_file() const { return lacks_split_file_; }
    std::string split_file_name() const;

  private:
    void index(Dwarf_Die* parent, bool deep, int depth);
    void index_all(bool deep);
    const Dwarf_Die* function_at(uint64_t address);
    const std::string& name_of(Dwarf_Die* function);
    std::string source_path(const char* path) const;
    void set_line(uint64_t address, model::SourceFrame& frame);
    void set_function_line(Dwarf_Die* function, model::SourceFrame& frame);
    void set_call_site(Dwarf_Die* inlined, model::SourceFrame& caller);

    Dwarf_Die unit_;    // holds the line table
    Dwarf_Die content_; // holds the functions: unit_ itself, or the unit of the .dwo file
    std::string folder_;          // the compiler's working directory
    bool lacks_split_file_ = false, indexed_deep_ = false;
    std::vector<NestedRanges::Range> ranges_;
    std::vector<Dwarf_Die> functions_; // of ranges_
    NestedRanges nested_;
    std::unordered_map<const void*, std::string> names_; // by DIE of the definition
};

} // namespace plumb::symbols
