#include "symbols/data/statics.h"

#include "symbols/data/locations.h"
#include "symbols/data/types.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <gelf.h>
#include <string_view>

namespace plumb::symbols {

namespace {

constexpr int kDeepestDie = 200;         // of nested DIEs: deeper nesting is damage
constexpr size_t kMaxUnitsLookedAt = 64; // for one address
constexpr size_t kMaxMentions = 8'000'000;

// Walks what can hold a static variable: units, namespaces, modules, functions and their blocks; not types.
class Collector {
  public:
    Collector(std::vector<StaticVariable>& found, Dwarf_Off unit) : found_(found), unit_(unit) {}

    void walk(Dwarf_Die* parent, const Dwarf_Die& function, const Dwarf_Die& block, int depth) {
        Dwarf_Die child;
        if (depth > kDeepestDie || dwarf_child(parent, &child) != 0)
            return;
        do {
            switch (dwarf_tag(&child)) {
            case DW_TAG_variable:
                add(child, function, block);
                break;
            case DW_TAG_common_block:
                walk(&child, function, child, depth + 1);
                break;
            case DW_TAG_subprogram:
            case DW_TAG_inlined_subroutine:
                walk(&child, child, block, depth + 1);
                break;
            case DW_TAG_namespace:
            case DW_TAG_module:
            case DW_TAG_lexical_block:
            case DW_TAG_try_block:
            case DW_TAG_catch_block:
                walk(&child, function, block, depth + 1);
                break;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }

  private:
    void add(Dwarf_Die& die, const Dwarf_Die& function, const Dwarf_Die& block) {
        const std::optional<Location> location = location_at(&die, 0);
        if (!location || location->meaning != Location::Meaning::address)
            return;
        StaticVariable variable{static_cast<uint64_t>(location->offset), 0, die, block, function, unit_, false};
        if (location->base == Location::Base::thread_local_offset)
            variable.is_thread_local = true;
        else if (location->base != Location::Base::absolute)
            return;
        if (std::optional<Dwarf_Die> type = type_of(&die))
            variable.bytes = size_of(&*type);
        found_.push_back(variable);
    }

    std::vector<StaticVariable>& found_;
    Dwarf_Off unit_;
};

Elf_Data* section_data(Elf* elf, std::string_view wanted) {
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return nullptr;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char* name = elf_strptr(elf, names, header.sh_name);
        // libdw has uncompressed it in place when it opened the file; a .zdebug_ section keeps its name.
        if (name && (wanted == name || (!std::strncmp(name, ".z", 2) && wanted.substr(1) == name + 2)))
            return elf_getdata(section, nullptr);
    }
    return nullptr;
}

} // namespace

DataStatics::DataStatics(Dwarf* dwarf, uint64_t first, uint64_t last) : dwarf_(dwarf), first_(first), last_(last) {
    Elf* elf = dwarf_getelf(dwarf_);
    GElf_Ehdr header;
    if (!elf || !gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
        return;
    find_units();
    if (const Elf_Data* info = section_data(elf, ".debug_info"); info && info->d_buf)
        scan_expressions(static_cast<const unsigned char*>(info->d_buf), info->d_size);
    if (const Elf_Data* table = section_data(elf, ".debug_addr"); table && table->d_buf && !tables_.empty())
        scan_address_table(static_cast<const unsigned char*>(table->d_buf), table->d_size);
    std::sort(mentions_.begin(), mentions_.end());
    mentions_.erase(std::unique(mentions_.begin(), mentions_.end()), mentions_.end());
}

void DataStatics::find_units() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type = 0;
    while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
            continue;
        const Dwarf_Off offset = dwarf_dieoffset(&die);
        units_.push_back({offset, offset});
        for (unsigned name : {DW_AT_addr_base, DW_AT_GNU_addr_base}) {
            Dwarf_Attribute attribute;
            Dwarf_Word base = 0;
            if (dwarf_attr(&die, name, &attribute) && dwarf_formudata(&attribute, &base) == 0)
                tables_.emplace_back(base, offset);
        }
    }
    std::sort(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) { return a.begin < b.begin; });
    std::sort(tables_.begin(), tables_.end());
}

std::optional<Dwarf_Off> DataStatics::unit_around(Dwarf_Off offset) const {
    auto after = std::upper_bound(units_.begin(), units_.end(), offset,
                                  [](Dwarf_Off o, const Unit& unit) { return o < unit.begin; });
    return after == units_.begin() ? std::nullopt : std::optional(std::prev(after)->die);
}

void DataStatics::scan_expressions(const unsigned char* bytes, size_t count) {
    for (size_t i = 0; i + 9 <= count; ++i) {
        if (bytes[i] != DW_OP_addr)
            continue;
        uint64_t address;
        std::memcpy(&address, bytes + i + 1, sizeof address);
        if (address < first_ || address >= last_ || mentions_.size() >= kMaxMentions)
            continue;
        if (const auto unit = unit_around(i))
            mentions_.push_back({address, *unit});
    }
}

void DataStatics::scan_address_table(const unsigned char* bytes, size_t count) {
    for (size_t table = 0; table < tables_.size(); ++table) {
        const auto [begin, unit] = tables_[table];
        // Units that share a table (all have the same begin) each get all of it.
        auto next = std::upper_bound(tables_.begin(), tables_.end(), std::pair(begin, ~Dwarf_Off{0}));
        const size_t end = next == tables_.end() ? count : std::min<size_t>(next->first, count);
        for (size_t i = begin; i + 8 <= end; i += 8) {
            uint64_t address;
            std::memcpy(&address, bytes + i, sizeof address);
            if (address >= first_ && address < last_ && mentions_.size() < kMaxMentions)
                mentions_.push_back({address, unit});
        }
    }
}

const std::vector<StaticVariable>& DataStatics::of_unit(Dwarf_Off offset) {
    auto [entry, is_new] = known_.try_emplace(offset);
    if (!is_new)
        return entry->second;
    Dwarf_Die die;
    if (!dwarf_offdie(dwarf_, offset, &die))
        return entry->second;
    uint8_t type = 0;
    Dwarf_Die split;
    if (dwarf_cu_info(die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
        type == DW_UT_skeleton && split.addr)
        die = split;
    Collector(entry->second, offset).walk(&die, Dwarf_Die{}, Dwarf_Die{}, 0);
    std::sort(entry->second.begin(), entry->second.end(),
              [](const StaticVariable& a, const StaticVariable& b) { return a.address < b.address; });
    return entry->second;
}

std::vector<const StaticVariable*> DataStatics::at(uint64_t address, uint64_t begin, uint64_t end) {
    std::vector<const StaticVariable*> found;
    auto mention = std::upper_bound(mentions_.begin(), mentions_.end(), Mention{address, ~Dwarf_Off{0}});
    std::vector<Dwarf_Off> looked_at;
    while (mention != mentions_.begin() && looked_at.size() < kMaxUnitsLookedAt) {
        --mention;
        if (mention->address < begin || (!found.empty() && mention->address < found.front()->address && begin == 0))
            break;
        if (std::find(looked_at.begin(), looked_at.end(), mention->unit) != looked_at.end())
            continue;
        looked_at.push_back(mention->unit);
        for (const StaticVariable& variable : of_unit(mention->unit)) {
            if (variable.address > address)
                break;
            const uint64_t bytes = variable.bytes             ? variable.bytes
                                   : variable.address < begin ? 0
                                                              : std::max(end, variable.address + 1) - variable.address;
            // A symbol ends where the next begins, whatever optimisation left of the variable before it.
            if (!variable.is_thread_local && variable.address >= begin && address - variable.address < bytes)
                found.push_back(&variable);
        }
    }
    return found;
}

} // namespace plumb::symbols
