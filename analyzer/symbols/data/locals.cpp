#include "symbols/data/locals.h"

#include "platform/code/decoder.h" // of the shim

#include "symbols/data/code.h"
#include "symbols/data/members.h"
#include "symbols/data/types.h"

#include <algorithm>
#include <dwarf.h>
#include <functional>
#include <gelf.h>
#include <string>

namespace plumb::symbols {

namespace {

using model::DataAccess;
using model::DataName;

constexpr int kMaxVariables = 5'000;          // of one function
constexpr uint64_t kMaxCodeLookedBack = 1 << 16; // bytes from the begin of a function

// Variables and parameters that are visible at the place, innermost scopes first, until `visit` returns true.
void for_each_variable(const CodePlace& place, const std::function<bool(Dwarf_Die&)>& visit) {
    int seen = 0;
    for (auto scope = place.scopes.rbegin(); scope != place.scopes.rend(); ++scope) {
        Dwarf_Die parent = *scope, child;
        if (dwarf_child(&parent, &child) != 0)
            continue;
        do {
            const int tag = dwarf_tag(&child);
            if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
                continue;
            if (++seen > kMaxVariables || visit(child))
                return;
        } while (dwarf_siblingof(&child, &child) == 0);
    }
}

std::string name_of(Dwarf_Die& variable) {
    const char* name = dwarf_diename(&variable);
    return name ? name : "(unnamed)";
}

void without_joint(std::string& member) {
    if (member.starts_with('.') || member.starts_with('%'))
        member.erase(0, 1);
}

// "(2)%w" -> "(:)%w", for an element that is not known.
void forget_element(DataName& name) {
    if (!name.member.starts_with('(') && !name.member.starts_with('['))
        return;
    const bool fortran = name.member.starts_with('(');
    const size_t end = name.member.find(fortran ? ')' : ']');
    const size_t at = name.expression.rfind(name.member);
    const std::string any = fortran ? "(:)" : "[]";
    if (end == name.member.npos || at == name.expression.npos)
        return;
    name.expression.replace(at, end + 1, any);
    name.member.replace(0, end + 1, any);
}

// What a variable's value points to: a pointer's target, or, where debug info describes a by-reference argument as the
// thing itself (Fortran), its own type.
struct Pointee {
    Dwarf_Die type;
    std::string alias;
    std::string variable;
    bool through_pointer = false;
};

std::optional<Pointee> pointee_of(Dwarf_Die& variable, Location::Meaning meaning) {
    std::optional<Dwarf_Die> type = type_of(&variable);
    if (!type)
        return std::nullopt;
    if (meaning == Location::Meaning::value) { // the register holds the variable, which is a pointer
        if (!is_pointer(&*type))
            return std::nullopt;
        std::optional<Dwarf_Die> target = type_of(&*type);
        if (!target)
            return std::nullopt;
        return Pointee{*target, alias_of(&*type), name_of(variable), dwarf_tag(&*type) == DW_TAG_pointer_type};
    }
    return Pointee{*type, alias_of(&variable), name_of(variable), false};
}

// `distance`: of the access from where the pointer points to, which may be any element of an array.
DataName describe(Pointee& pointee, int64_t distance, uint32_t width, int* fit) {
    DataName name;
    name.kind = DataName::Kind::pointed_structure;
    name.name = name_of_type(&pointee.type, pointee.alias);
    name.type = name.name;
    name.size = size_of(&pointee.type);
    SourcePlace place = place_of(&pointee.type);
    name.file = std::move(place.file);
    name.line = place.line;
    int64_t element = 0;
    uint64_t within = static_cast<uint64_t>(distance);
    if (name.size > 0) {
        const int64_t bytes = static_cast<int64_t>(std::min<uint64_t>(name.size, INT64_MAX));
        element = distance / bytes - (distance % bytes < 0 ? 1 : 0);
        within = static_cast<uint64_t>(distance - element * bytes);
    }
    name.offset = within;
    *fit = describe_member(&pointee.type, pointee.alias, {within, width}, name);
    const bool is_fortran_array = name.member.starts_with('(');
    if (!pointee.through_pointer)
        name.expression = pointee.variable + name.member; // references and dummy arguments read like the thing itself
    else if (element != 0)
        name.expression = pointee.variable + "[" + std::to_string(element) + "]" + name.member;
    else if (name.member.starts_with('.'))
        name.expression = pointee.variable + "->" + name.member.substr(1);
    else
        name.expression = name.member.empty() || is_fortran_array ? "*" + pointee.variable
                                                                  : "(*" + pointee.variable + ")" + name.member;
    without_joint(name.member);
    return name;
}

constexpr int kGeneralRegisters = 31; // at most, the stack pointer aside

// Where only the debug file is left: of this machine.
int machine_of(const CodePlace& place) {
    return place.image ? place.image->machine() : shim::kDecodesA64 ? EM_AARCH64 : EM_X86_64;
}

// The bytes of the function before the access.
std::vector<uint8_t> code_before(const CodePlace& place) {
    Dwarf_Die function = place.scopes.front();
    Dwarf_Addr base = 0, begin = 0, end = 0;
    const uint64_t debug_address = place.instruction - place.debug_bias;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(&function, next, &base, &begin, &end)) > 0;)
        if (debug_address >= begin && debug_address < end && debug_address - begin <= kMaxCodeLookedBack && place.image)
            return place.image->code_at(begin + place.debug_bias, debug_address - begin);
    return {};
}

std::optional<DataName> by_register(const CodePlace& place, const DataAccess& access, int base_register) {
    const DataFrame frame(place.module, place.instruction, place.debug_bias, place.scopes.front());
    const std::vector<uint8_t> code = machine_of(place) == EM_X86_64 ? code_before(place) : std::vector<uint8_t>();
    const std::optional<StackSlot> slot = origin_of(code, base_register);
    std::optional<int64_t> slot_offset;
    if (slot)
        if (const auto of_register = frame.offset_of_register(slot->register_number))
            slot_offset = *of_register + slot->displacement;

    std::optional<DataName> best;
    int best_fit = -1;
    for_each_variable(place, [&](Dwarf_Die& variable) {
        const std::optional<Location> location = location_at(&variable, place.instruction - place.debug_bias);
        if (!location)
            return false;
        using Meaning = Location::Meaning;
        std::optional<Pointee> pointee;
        int64_t distance = 0;
        bool is_moved = false;
        const std::optional<int64_t> home = frame.offset_of(*location);
        if (location->base == Location::Base::register_value && location->register_number == base_register &&
            location->meaning != Meaning::address_of_address) {
            // The value of the variable, or for `address` the variable itself, is at the register plus an offset.
            pointee = pointee_of(variable, location->meaning);
            distance = static_cast<int64_t>(access.address - access.base_value) - location->offset;
        } else if (home && slot_offset && *home == *slot_offset && location->meaning != Meaning::value) {
            pointee = location->meaning == Meaning::address_of_address ? pointee_of(variable, Meaning::address)
                                                                       : pointee_of(variable, Meaning::value);
            // With an index added to it only the place within an element is left.
            is_moved = slot->moved;
            distance = static_cast<int64_t>(access.address - access.base_value);
        }
        if (!pointee)
            return false;
        int fit = 0;
        DataName name = describe(*pointee, distance, access.width, &fit);
        if (is_moved)
            forget_element(name);
        if (fit > best_fit) {
            best = std::move(name);
            best_fit = fit;
        }
        return best_fit >= 2;
    });
    return best;
}

// Optimised loops keep addresses that no variable holds. A packed record still shows by its place in the block.
std::optional<DataName> by_block(const CodePlace& place, const DataAccess& access) {
    if (access.block_start == 0 || access.width == 0 || access.address < access.block_start)
        return std::nullopt;
    std::optional<DataName> found;
    bool is_unique = true;
    for_each_variable(place, [&](Dwarf_Die& variable) {
        std::optional<Pointee> pointee = pointee_of(variable, Location::Meaning::value);
        if (!pointee || !is_structure(&pointee->type))
            return false;
        const uint64_t bytes = size_of(&pointee->type);
        if (bytes == 0 || access.block_bytes < bytes)
            return false;
        int fit = 0;
        const uint64_t distance = (access.address - access.block_start) % bytes;
        DataName name = describe(*pointee, static_cast<int64_t>(distance), access.width, &fit);
        if (fit < 2)
            return false;
        if (found && (found->name != name.name || found->member != name.member))
            is_unique = false;
        found = std::move(name);
        return false;
    });
    return is_unique ? found : std::nullopt;
}

} // namespace

std::optional<DataName> name_local(const CodePlace& place, const DataAccess& access) {
    const DataFrame frame(place.module, place.instruction, place.debug_bias, place.scopes.front());
    uint64_t frame_address = access.frame_address;
    if (const auto operand = operand_of(access.code, access.width, machine_of(place)); operand && operand->base >= 0)
        if (const auto offset = frame.offset_of_register(operand->base); offset && access.base_value)
            frame_address = access.base_value - static_cast<uint64_t>(*offset);
    if (frame_address == 0)
        return std::nullopt;
    const int64_t wanted = static_cast<int64_t>(access.address - frame_address);
    std::optional<DataName> found;
    for_each_variable(place, [&](Dwarf_Die& variable) {
        const std::optional<Location> location = location_at(&variable, place.instruction - place.debug_bias);
        std::optional<Dwarf_Die> type = type_of(&variable);
        if (!location || !type || location->meaning != Location::Meaning::address)
            return false;
        const std::optional<int64_t> home = frame.offset_of(*location);
        const uint64_t bytes = size_of(&*type);
        if (!home || wanted < *home || static_cast<uint64_t>(wanted - *home) >= std::max<uint64_t>(bytes, 1))
            return false;
        DataName name;
        name.kind = DataName::Kind::stack_variable;
        name.name = name_of(variable);
        const std::string alias = alias_of(&variable);
        name.type = name_of_type(&*type, alias);
        name.size = bytes;
        name.offset = static_cast<uint64_t>(wanted - *home);
        SourcePlace declared = place_of(&variable);
        name.file = std::move(declared.file);
        name.line = declared.line;
        describe_member(&*type, alias, {name.offset, access.width}, name);
        name.expression = name.name + name.member;
        without_joint(name.member);
        found = std::move(name);
        return true;
    });
    return found;
}

std::optional<DataName> name_by_type(const CodePlace& place, const DataAccess& access) {
    const auto operand = operand_of(access.code, access.width, machine_of(place));
    if (operand && operand->base >= 0 && operand->base < kGeneralRegisters && access.base_value)
        if (std::optional<DataName> name = by_register(place, access, operand->base))
            return name;
    return by_block(place, access);
}

} // namespace plumb::symbols
