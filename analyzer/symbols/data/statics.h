// The static variables of one file, found by address without reading all of its debug info: whatever looks like the
// address of data in an expression points to the compilation unit to read.
#pragma once

#include "symbols/elf/elf_image.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <map>
#include <optional>
#include <vector>

namespace plumb::symbols {

// Addresses are those of the debug info.
struct StaticVariable {
    uint64_t address = 0, bytes = 0; // bytes 0: not known
    Dwarf_Die die;
    Dwarf_Die block;    // the DW_TAG_common_block that holds it; .addr null: none
    Dwarf_Die function; // the innermost function around its description; .addr null: none
    Dwarf_Off unit = 0;           // DIE of the unit in .debug_info
    bool is_thread_local = false; // `address` is the offset in the TLS segment
};

class DataStatics {
  public:
    // [first, last): addresses that can be data.
    DataStatics(Dwarf* dwarf, uint64_t first, uint64_t last);

    // All descriptions of what covers `address`. [begin, end): the linker's symbol there, which bounds the search and
    // is the size of what has none of its own; 0, 0: there is none.
    std::vector<const StaticVariable*> at(uint64_t address, uint64_t begin, uint64_t end);

    // Those of one unit, by its DIE's offset; empty if there is no such unit.
    const std::vector<StaticVariable>& of_unit(Dwarf_Off unit);

  private:
    struct Mention { // of an address, in the debug info of a unit
        uint64_t address;
        Dwarf_Off unit;
        bool operator<(const Mention& other) const {
            return address != other.address ? address < other.address : unit < other.unit;
        }
        bool operator==(const Mention&) const = default;
    };
    struct Unit {
        Dwarf_Off begin, die;
    };
    void find_units();
    void scan_expressions(const unsigned char* bytes, size_t count);
    void scan_address_table(const unsigned char* bytes, size_t count);
    std::optional<Dwarf_Off> unit_around(Dwarf_Off offset) const;

    Dwarf* dwarf_;
    uint64_t first_, last_;
    std::vector<Unit> units_;                                // by begin
    std::vector<std::pair<Dwarf_Off, Dwarf_Off>> tables_;    // of addresses: begin in .debug_addr, unit; by begin
    std::vector<Mention> mentions_;                          // by address
    std::map<Dwarf_Off, std::vector<StaticVariable>> known_; // by unit
};

} // namespace plumb::symbols
