#include "symbols/data/arrays.h"

#include "symbols/data/types.h"

#include <algorithm>
#include <dwarf.h>
#include <optional>

namespace plumb::symbols {

namespace {

constexpr size_t kMaxRank = 16;    // Fortran allows 15
constexpr int kMostDimensions = 8; // of arrays of arrays: damaged debug info may have a ring of them

std::optional<int64_t> constant(Dwarf_Die* die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    if (!dwarf_attr(die, name, &attribute))
        return std::nullopt;
    switch (dwarf_whatform(&attribute)) { // an expression or a reference is computed at run time
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8: {
        Dwarf_Word plain = 0; // the sign of these depends on the type; bounds below zero come as sdata
        if (dwarf_formudata(&attribute, &plain) != 0)
            return std::nullopt;
        const unsigned form = dwarf_whatform(&attribute);
        if ((form == DW_FORM_data1 && plain == 0xff) || (form == DW_FORM_data4 && plain == 0xffffffff))
            return -1; // gcc's upper bound of an array without elements
        return static_cast<int64_t>(plain);
    }
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_implicit_const:
        if (dwarf_formsdata(&attribute, &value) == 0)
            return value;
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

ArrayDimension dimension_of(Dwarf_Die* subrange, bool fortran) {
    ArrayDimension dimension;
    Dwarf_Attribute attribute;
    const bool has_lower = dwarf_attr(subrange, DW_AT_lower_bound, &attribute);
    const std::optional<int64_t> lower = constant(subrange, DW_AT_lower_bound);
    dimension.lower = lower.value_or(fortran ? 1 : 0);
    if (has_lower && !lower)
        return dimension;
    if (const auto count = constant(subrange, DW_AT_count)) {
        dimension.count = *count > 0 ? static_cast<uint64_t>(*count) : 0;
    } else if (const auto upper = constant(subrange, DW_AT_upper_bound)) {
        int64_t last = 0;
        if (!__builtin_sub_overflow(*upper, dimension.lower, &last) && last >= 0 && last < INT64_MAX)
            dimension.count = static_cast<uint64_t>(last) + 1;
    }
    return dimension;
}

ArrayShape shape_at(Dwarf_Die* array_type, int nesting) {
    ArrayShape shape;
    shape.fortran = is_fortran(array_type);
    Dwarf_Attribute attribute;
    shape.has_descriptor = dwarf_attr(array_type, DW_AT_data_location, &attribute) != nullptr;
    std::optional<Dwarf_Die> element = type_of(array_type);
    if (element && dwarf_tag(&*element) != DW_TAG_array_type) {
        shape.element_bytes = size_of(&*element);
    } else if (element && nesting < kMostDimensions) {
        const ArrayShape inner = shape_at(&*element, nesting + 1);
        shape.element_bytes = bytes_of_array(inner);
    }
    Dwarf_Die child;
    if (dwarf_child(array_type, &child) != 0)
        return shape;
    do {
        const int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_subrange_type || tag == DW_TAG_enumeration_type) && shape.dimensions.size() < kMaxRank)
            shape.dimensions.push_back(dimension_of(&child, shape.fortran));
    } while (dwarf_siblingof(&child, &child) == 0);
    return shape;
}

} // namespace

ArrayShape shape_of_array(Dwarf_Die* array_type) { return shape_at(array_type, 0); }

uint64_t bytes_of_array(const ArrayShape& shape) {
    uint64_t bytes = shape.element_bytes;
    for (const ArrayDimension& dimension : shape.dimensions)
        if (__builtin_mul_overflow(bytes, dimension.count, &bytes))
            return 0;
    return shape.has_descriptor || shape.dimensions.empty() ? 0 : bytes;
}

std::string text_of_subscripts(const ArrayShape& shape, uint64_t index) {
    std::vector<ArrayDimension> fastest_first = shape.dimensions;
    if (!shape.fortran)
        std::reverse(fastest_first.begin(), fastest_first.end());
    std::vector<std::string> subscripts;
    for (size_t i = 0; i < fastest_first.size(); ++i) {
        const ArrayDimension& dimension = fastest_first[i];
        const bool is_last = i + 1 == fastest_first.size();
        if (!is_last && dimension.count == 0)
            return shape.fortran ? "(:)" : "[]";
        const uint64_t number = is_last ? index : index % dimension.count;
        if (!is_last)
            index /= dimension.count;
        subscripts.push_back(std::to_string(static_cast<int64_t>(static_cast<uint64_t>(dimension.lower) + number)));
    }
    if (!shape.fortran)
        std::reverse(subscripts.begin(), subscripts.end());
    std::string text;
    for (const std::string& subscript : subscripts)
        text += shape.fortran ? (text.empty() ? "(" : ",") + subscript : "[" + subscript + "]";
    return shape.fortran && !text.empty() ? text + ")" : text;
}

std::string text_of_shape(const ArrayShape& shape) {
    std::string text;
    for (const ArrayDimension& dimension : shape.dimensions) {
        if (!shape.fortran) {
            text += "[" + (dimension.count ? std::to_string(dimension.count) : std::string()) + "]";
            continue;
        }
        text += text.empty() ? "(" : ",";
        if (dimension.count == 0) {
            text += shape.has_descriptor ? ":" : "*";
            continue;
        }
        if (dimension.lower != 1)
            text += std::to_string(dimension.lower) + ":";
        text += std::to_string(dimension.lower + static_cast<int64_t>(dimension.count) - 1);
    }
    return shape.fortran && !text.empty() ? text + ")" : text;
}

} // namespace plumb::symbols
