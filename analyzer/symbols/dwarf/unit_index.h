// From an address to the compilation unit whose code is there. Uses .debug_aranges where the compiler wrote it (gcc
// does); the units that it does not mention (clang writes none) are asked for their own ranges on the first miss.
#pragma once

#include <cstdint>
#include <elfutils/libdw.h>
#include <optional>
#include <unordered_set>
#include <vector>

namespace plumb::symbols {

class UnitIndex {
  public:
    // `first_code`, `last_code`: addresses that can be code; ranges outside are left-overs of discarded sections.
    UnitIndex(Dwarf* dwarf, uint64_t first_code, uint64_t last_code);

    // Offset of the unit's DIE in .debug_info.
    std::optional<Dwarf_Off> unit_at(uint64_t address);

  private:
    struct Range {
        uint64_t begin, end;
        Dwarf_Off unit;
    };
    const Range* find(uint64_t address) const;
    void add(uint64_t begin, uint64_t end, Dwarf_Off unit);
    void add_unmentioned_units();
    void sort();

    Dwarf* dwarf_;
    uint64_t first_code_, last_code_;
    std::vector<Range> ranges_;
    std::unordered_set<Dwarf_Off> mentioned_;
    bool complete_ = false;
};

} // namespace plumb::symbols
