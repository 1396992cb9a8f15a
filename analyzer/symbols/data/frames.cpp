#include "symbols/data/frames.h"

#include <cstdlib>
#include <dwarf.h>

namespace plumb::symbols {

namespace {

struct Rule {
    int register_number = -1;
    int64_t offset = 0;
};

Rule rule_of(Dwarf_CFI* cfi, Dwarf_Addr address) {
    Rule rule;
    Dwarf_Frame* frame = nullptr;
    if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return rule;
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && operations && count >= 1) {
        const Dwarf_Op& first = operations[0];
        if (first.atom >= DW_OP_breg0 && first.atom <= DW_OP_breg31)
            rule = {first.atom - DW_OP_breg0, static_cast<int64_t>(first.number)};
        else if (first.atom == DW_OP_bregx)
            rule = {static_cast<int>(first.number), static_cast<int64_t>(first.number2)};
        if (count == 2 && operations[1].atom == DW_OP_plus_uconst)
            rule.offset += static_cast<int64_t>(operations[1].number);
        else if (count != 1)
            rule = {};
    }
    std::free(frame);
    return rule;
}

} // namespace

DataFrame::DataFrame(Dwfl_Module* module, uint64_t address, Dwarf_Addr debug_bias, Dwarf_Die function) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = dwfl_module_eh_cfi(module, &bias);
    Rule rule = rule_of(cfi, address - bias);
    if (rule.register_number < 0) {
        cfi = dwfl_module_dwarf_cfi(module, &bias);
        rule = rule_of(cfi, address - bias);
    }
    cfa_register_ = rule.register_number;
    cfa_offset_ = rule.offset;
    frame_base_ = frame_base_of(&function, address - debug_bias);
}

std::optional<int64_t> DataFrame::offset_of_register(int register_number) const {
    if (register_number < 0 || register_number != cfa_register_)
        return std::nullopt;
    return -cfa_offset_;
}

std::optional<int64_t> DataFrame::offset_of(const Location& location) const {
    switch (location.base) {
    case Location::Base::frame:
        return location.offset;
    case Location::Base::frame_base:
        if (!frame_base_)
            return std::nullopt;
        if (const std::optional<int64_t> base = offset_of(*frame_base_)) // which is never relative to itself
            return *base + location.offset;
        return std::nullopt;
    case Location::Base::register_value:
        if (const std::optional<int64_t> base = offset_of_register(location.register_number))
            return *base + location.offset;
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

} // namespace plumb::symbols
