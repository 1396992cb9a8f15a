#include "symbols/data/locations.h"

#include <dwarf.h>

namespace plumb::symbols {

namespace {

using Base = Location::Base;

// Operands of DW_OP_addrx and similar are indices of a table that libdw looks up.
std::optional<uint64_t> indexed_address(Dwarf_Attribute* attribute, const Dwarf_Op* operation) {
    Dwarf_Attribute entry;
    Dwarf_Addr address = 0;
    if (dwarf_getlocation_attr(attribute, operation, &entry) != 0)
        return std::nullopt;
    if (dwarf_formaddr(&entry, &address) == 0)
        return address;
    Dwarf_Word value = 0; // constx
    return dwarf_formudata(&entry, &value) == 0 ? std::optional(uint64_t{value}) : std::nullopt;
}

// The first operation, which puts something on the stack.
std::optional<Location> start(Dwarf_Attribute* attribute, const Dwarf_Op& operation) {
    Location location;
    const int atom = operation.atom;
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        location = {Base::register_value, atom - DW_OP_reg0, 0, Location::Meaning::value};
    } else if (atom == DW_OP_regx) {
        location = {Base::register_value, static_cast<int>(operation.number), 0, Location::Meaning::value};
    } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        location.base = Base::register_value;
        location.register_number = atom - DW_OP_breg0;
        location.offset = static_cast<int64_t>(operation.number);
    } else if (atom == DW_OP_bregx) {
        location.base = Base::register_value;
        location.register_number = static_cast<int>(operation.number);
        location.offset = static_cast<int64_t>(operation.number2);
    } else if (atom == DW_OP_fbreg) {
        location.base = Base::frame_base;
        location.offset = static_cast<int64_t>(operation.number);
    } else if (atom == DW_OP_call_frame_cfa) {
        location.base = Base::frame;
    } else if (atom == DW_OP_addr || atom == DW_OP_const8u || atom == DW_OP_const4u) {
        location.offset = static_cast<int64_t>(operation.number);
    } else if (atom == DW_OP_addrx || atom == DW_OP_GNU_addr_index || atom == DW_OP_constx ||
               atom == DW_OP_GNU_const_index) {
        const auto address = indexed_address(attribute, &operation);
        if (!address)
            return std::nullopt;
        location.offset = static_cast<int64_t>(*address);
    } else {
        return std::nullopt;
    }
    return location;
}

std::optional<Location> evaluate(Dwarf_Attribute* attribute, const Dwarf_Op* operations, size_t count) {
    if (count == 0 || !operations)
        return std::nullopt;
    std::optional<Location> location = start(attribute, operations[0]);
    for (size_t i = 1; location && i < count; ++i) {
        const bool is_settled = location->meaning != Location::Meaning::address;
        if (is_settled)
            return std::nullopt;
        switch (operations[i].atom) {
        case DW_OP_plus_uconst:
            location->offset += static_cast<int64_t>(operations[i].number);
            break;
        case DW_OP_deref:
            location->meaning = Location::Meaning::address_of_address;
            break;
        case DW_OP_stack_value:
            location->meaning = Location::Meaning::value;
            break;
        case DW_OP_form_tls_address:
        case DW_OP_GNU_push_tls_address:
            if (location->base != Base::absolute)
                return std::nullopt;
            location->base = Base::thread_local_offset;
            break;
        default:
            return std::nullopt;
        }
    }
    // A bare constant is no address.
    const int first = operations[0].atom;
    if (location && location->base == Base::absolute && first != DW_OP_addr && first != DW_OP_addrx &&
        first != DW_OP_GNU_addr_index)
        return std::nullopt;
    return location;
}

std::optional<Location> from_attribute(Dwarf_Die* die, unsigned name, uint64_t address) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr(die, name, &attribute))
        return std::nullopt;
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (address == 0)
        return dwarf_getlocation(&attribute, &operations, &count) == 0 ? evaluate(&attribute, operations, count)
                                                                       : std::nullopt;
    Dwarf_Op* expressions[1];
    size_t counts[1];
    if (dwarf_getlocation_addr(&attribute, address, expressions, counts, 1) != 1)
        return std::nullopt;
    return evaluate(&attribute, expressions[0], counts[0]);
}

} // namespace

std::optional<Location> location_at(Dwarf_Die* variable, uint64_t address) {
    return from_attribute(variable, DW_AT_location, address);
}

std::optional<Location> frame_base_of(Dwarf_Die* function, uint64_t address) {
    std::optional<Location> base = from_attribute(function, DW_AT_frame_base, address);
    if (base && base->base == Location::Base::frame_base)
        return std::nullopt;
    return base;
}

} // namespace plumb::symbols
