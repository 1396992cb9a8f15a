#include "symbols/data/names.h"

#include "symbols/data/members.h"
#include "symbols/data/types.h"
#include "symbols/dwarf/scope_names.h"

#include <algorithm>
#include <cstdio>
#include <dwarf.h>

namespace plumb::symbols {

using model::DataName;

bool has_data_at(const ElfImage& file, uint64_t address) {
    return std::any_of(file.segments().begin(), file.segments().end(), [&](const Segment& segment) {
        return !segment.executable && address >= segment.address &&
               address - segment.address < segment.memory_bytes;
    });
}

DataNames::DataNames(const ElfImage& file, Dwfl_Module* module, Dwarf* dwarf, Dwarf_Addr debug_bias, UnitIndex* units)
    : file_(file), dwarf_(dwarf), bias_(debug_bias), units_(units), symbols_(module) {}

DataStatics* DataNames::statics() {
    if (!statics_ && dwarf_) {
        uint64_t first = UINT64_MAX, last = 0;
        for (const Segment& segment : file_.segments())
            if (!segment.executable && segment.address + segment.memory_bytes >= segment.address) {
                first = std::min(first, segment.address);
                last = std::max(last, segment.address + segment.memory_bytes);
            }
        // Below the first page nothing is mapped: that is where the linker leaves what it discarded.
        statics_ = std::make_unique<DataStatics>(dwarf_, std::max<uint64_t>(first, 1) - bias_, last - bias_);
    }
    return statics_.get();
}

namespace {

// Whether the code is the function's, or a copy of it: variables of inlined functions are described with the original.
bool is_running(Dwarf_Die function, std::vector<Dwarf_Die> scopes) {
    for (Dwarf_Die& scope : scopes) {
        Dwarf_Attribute attribute;
        Dwarf_Die origin;
        if (scope.addr == function.addr)
            return true;
        if (dwarf_attr(&scope, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin) &&
            origin.addr == function.addr)
            return true;
    }
    return false;
}

} // namespace

std::optional<DataName> DataNames::static_at(uint64_t address, uint32_t width, uint64_t instruction,
                                             const std::vector<Dwarf_Die>& scopes) {
    const DataSymbol* symbol = symbols_.at(address);
    if (std::optional<DataName> name = by_debug_info(address, width, instruction, scopes, symbol))
        return name;
    DataName name;
    if (symbol) {
        const std::string block = symbols_.common_block(*symbol);
        name.kind = block.empty() ? DataName::Kind::variable : DataName::Kind::common_block;
        name.name = block.empty() ? symbols_.readable(*symbol) : block;
        name.size = symbol->size;
        name.offset = address - symbol->begin;
    } else {
        const auto section = std::find_if(file_.sections().begin(), file_.sections().end(), [&](const Section& s) {
            return !s.executable && s.name != ".tbss" && address >= s.address && address - s.address < s.bytes;
        });
        if (section == file_.sections().end())
            return std::nullopt;
        char offset[32];
        std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(address - section->address));
        name.name = section->name + offset;
    }
    name.expression = name.name;
    return name;
}

std::optional<DataName> DataNames::by_debug_info(uint64_t address, uint32_t width, uint64_t instruction,
                                                 const std::vector<Dwarf_Die>& scopes, const DataSymbol* symbol) {
    DataStatics* known = statics();
    if (!known)
        return std::nullopt;
    const uint64_t debug_address = address - bias_;
    const uint64_t code = instruction ? instruction - bias_ : 0;
    const std::optional<Dwarf_Off> unit = code && units_ ? units_->unit_at(code) : std::nullopt;
    std::optional<DataName> best;
    const StaticVariable* chosen = nullptr;
    int best_score = -1;
    const uint64_t begin = symbol ? symbol->begin - bias_ : 0, end = symbol ? begin + symbol->size : 0;
    for (const StaticVariable* variable : known->at(debug_address, begin, end)) {
        int fit = 0;
        DataName name = describe(*variable, debug_address, width, &fit);
        // What the accessing code itself calls it comes first, then what is one whole scalar of that width.
        int score = fit;
        score += variable->function.addr && is_running(variable->function, scopes) ? 8 : 0;
        score += unit && *unit == variable->unit ? 4 : 0;
        if (score > best_score) {
            best = std::move(name);
            best_score = score;
            chosen = variable;
        }
    }
    if (chosen && chosen->block.addr)
        describe_block(*chosen, debug_address, symbol, *best);
    return best;
}

DataName DataNames::describe(const StaticVariable& variable, uint64_t debug_address, uint32_t width, int* fit) {
    Dwarf_Die die = variable.die;
    DataName name;
    name.name = static_name(&die);
    name.size = variable.bytes;
    name.offset = debug_address - variable.address;
    SourcePlace place = place_of(&die);
    name.file = std::move(place.file);
    name.line = place.line;
    if (std::optional<Dwarf_Die> type = type_of(&die)) {
        const std::string alias = alias_of(&die);
        name.type = name_of_type(&*type, alias);
        *fit = describe_member(&*type, alias, {name.offset, width}, name);
    }
    name.expression = name.name + name.member;
    if (name.member.starts_with('.') || name.member.starts_with('%'))
        name.member.erase(0, 1);
    return name;
}

// The variable becomes a member of the block. A structure inside that misplaces its own member remains the holder.
void DataNames::describe_block(const StaticVariable& variable, uint64_t debug_address, const DataSymbol* symbol,
                               DataName& name) {
    uint64_t begin = variable.address, end = variable.address + variable.bytes;
    for (const StaticVariable& other : statics()->of_unit(variable.unit))
        if (other.block.addr == variable.block.addr) {
            begin = std::min(begin, other.address);
            end = std::max(end, other.address + other.bytes);
        }
    if (symbol) {
        begin = symbol->begin - bias_;
        end = begin + symbol->size;
    }
    Dwarf_Die block = variable.block, die = variable.die;
    const char* text = dwarf_diename(&block);
    const std::string block_name = !text || std::string_view(text) == "__BLNK__" ? "//" : "/" + std::string(text) + "/";
    const char* member = dwarf_diename(&die);
    name.kind = DataName::Kind::common_block;
    name.member = (member ? member : "") + name.expression.substr(name.name.size());
    name.expression = block_name + " " + name.member;
    name.name = block_name;
    name.size = end - begin;
    name.offset = debug_address - begin;
    if (name.packed)
        return;
    name.holder = block_name;
    SourcePlace place = place_of(&block);
    name.holder_file = std::move(place.file);
    name.holder_line = place.line;
    name.member_offset = variable.address - begin;
    name.member_size = variable.bytes;
    std::optional<Dwarf_Die> type = type_of(&die);
    name.member_alignment = type ? alignment_of(&*type) : 0;
    name.packed = name.member_alignment > 1 && name.member_offset % name.member_alignment != 0;
}

} // namespace plumb::symbols
