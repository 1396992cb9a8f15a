#include "symbols/dwarf/unit_index.h"

#include <algorithm>
#include <dwarf.h>

namespace plumb::symbols {

UnitIndex::UnitIndex(Dwarf* dwarf, uint64_t first_code, uint64_t last_code)
    : dwarf_(dwarf), first_code_(first_code), last_code_(last_code) {
    Dwarf_Aranges* aranges = nullptr;
    size_t count = 0;
    if (dwarf_getaranges(dwarf_, &aranges, &count) != 0)
        return;
    for (size_t i = 0; i < count; ++i) {
        Dwarf_Addr begin = 0;
        Dwarf_Word bytes = 0;
        Dwarf_Off unit = 0;
        if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &begin, &bytes, &unit) != 0)
            continue;
        mentioned_.insert(unit);
        add(begin, begin + bytes, unit);
    }
    sort();
}

void UnitIndex::add(uint64_t begin, uint64_t end, Dwarf_Off unit) {
    if (begin < end && begin >= first_code_ && begin < last_code_)
        ranges_.push_back({begin, end, unit});
}

void UnitIndex::sort() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

void UnitIndex::add_unmentioned_units() {
    complete_ = true;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type = 0;
    while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
        if ((type != DW_UT_compile && type != DW_UT_skeleton) || mentioned_.contains(dwarf_dieoffset(&die)))
            continue;
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t next = 0; (next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0;)
            add(begin, end, dwarf_dieoffset(&die));
    }
    sort();
    mentioned_.clear();
}

const UnitIndex::Range* UnitIndex::find(uint64_t address) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t a, const Range& range) { return a < range.begin; });
    // Ranges of sane files are disjoint; a few steps back forgive zero-length neighbours and duplicates.
    for (int steps = 0; after != ranges_.begin() && steps < 4; ++steps)
        if (--after; address < after->end)
            return &*after;
    return nullptr;
}

std::optional<Dwarf_Off> UnitIndex::unit_at(uint64_t address) {
    const Range* range = find(address);
    if (!range && !complete_) {
        add_unmentioned_units();
        range = find(address);
    }
    return range ? std::optional(range->unit) : std::nullopt;
}

} // namespace plumb::symbols
