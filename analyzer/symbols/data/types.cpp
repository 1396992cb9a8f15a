#include "symbols/data/types.h"

#include "symbols/data/arrays.h"

#include <algorithm>
#include <dwarf.h>
#include <filesystem>
#include <string_view>

namespace plumb::symbols {

namespace {

constexpr int kMaxHops = 32;       // typedefs of typedefs, pointers to pointers
constexpr int kMostNesting = 12;   // of structures, when looking for the strictest member
constexpr int kMaxMembers = 2'000; // of one structure, for the same

std::optional<uint64_t> number(Dwarf_Die* die, unsigned attribute_name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr_integrate(die, attribute_name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
        return std::nullopt;
    return value;
}

struct Layout {
    uint32_t strictest = 1; // natural alignment of the strictest member
    bool packed = false;
};

uint32_t alignment_within(Dwarf_Die* type, int nesting);

Layout layout_of(Dwarf_Die* structure, int nesting) {
    Layout layout;
    Dwarf_Die child;
    if (nesting > kMostNesting || dwarf_child(structure, &child) != 0)
        return layout;
    int members = 0;
    do {
        const int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || ++members > kMaxMembers)
            continue;
        const std::optional<MemberRange> range = range_of_member(&child);
        std::optional<Dwarf_Die> type = type_of(&child);
        if (!range || range->bit_field || !type)
            continue;
        uint32_t alignment = alignment_within(&*type, nesting + 1);
        if (const auto asked = number(&child, DW_AT_alignment); asked && *asked > 0 && *asked <= 4096)
            alignment = static_cast<uint32_t>(*asked);
        if (alignment == 0)
            continue;
        layout.strictest = std::max(layout.strictest, alignment);
        layout.packed |= range->offset % alignment != 0;
    } while (dwarf_siblingof(&child, &child) == 0);
    layout.packed |= size_of(structure) % layout.strictest != 0;
    return layout;
}

uint32_t alignment_within(Dwarf_Die* type, int nesting) {
    if (const auto asked = number(type, DW_AT_alignment); asked && *asked > 0 && *asked <= 4096)
        return static_cast<uint32_t>(*asked);
    const uint64_t bytes = size_of(type);
    switch (dwarf_tag(type)) {
    case DW_TAG_base_type: {
        const uint64_t encoding = number(type, DW_AT_encoding).value_or(0);
        const uint64_t parts = encoding == DW_ATE_complex_float && bytes > 1 ? bytes / 2 : bytes;
        return parts && (parts & (parts - 1)) == 0 && parts <= 16 ? static_cast<uint32_t>(parts) : 0;
    }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
        return 8;
    case DW_TAG_enumeration_type:
        return bytes <= 8 ? static_cast<uint32_t>(bytes) : 0;
    case DW_TAG_array_type: {
        Dwarf_Attribute attribute;
        bool is_vector = false;
        if (dwarf_attr(type, DW_AT_GNU_vector, &attribute))
            dwarf_formflag(&attribute, &is_vector);
        if (is_vector)
            return bytes <= 64 ? static_cast<uint32_t>(bytes) : 0;
        std::optional<Dwarf_Die> element = type_of(type);
        return element && nesting <= kMostNesting ? alignment_within(&*element, nesting + 1) : 0;
    }
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
        const Layout layout = layout_of(type, nesting);
        return layout.packed ? 1 : layout.strictest;
    }
    case DW_TAG_string_type:
        return 1;
    default:
        return 0;
    }
}

// dwarf_decl_file() of elfutils 0.188 aborts on units whose .dwo file has no line table.
std::string declaring_file(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    Dwarf_Die unit;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
        return {};
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return {};
    const char* name = dwarf_filesrc(files, number, nullptr, nullptr);
    std::string file = name ? name : "";
    const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    if (!file.empty() && !file.starts_with('/') && !file.starts_with('<') && folder && *folder == '/')
        file = std::string(folder) + "/" + file;
    return std::filesystem::path(file).lexically_normal().string();
}

} // namespace

SourcePlace place_of(Dwarf_Die* die) {
    SourcePlace place;
    int line = 0;
    if (dwarf_decl_line(die, &line) == 0 && line > 0)
        place.line = static_cast<uint32_t>(line);
    place.file = declaring_file(die);
    return place;
}

bool is_fortran(Dwarf_Die* die) {
    Dwarf_Die unit;
    switch (dwarf_diecu(die, &unit, nullptr, nullptr) ? dwarf_srclang(&unit) : -1) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return true;
    default:
        return false;
    }
}

std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
    Dwarf_Die type = *die;
    for (int hop = 0; hop < kMaxHops; ++hop) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &next))
            return std::nullopt;
        type = next;
        switch (dwarf_tag(&type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
        case DW_TAG_immutable_type:
        case DW_TAG_shared_type:
            continue;
        default:
            return type;
        }
    }
    return std::nullopt;
}

std::string alias_of(Dwarf_Die* die) {
    std::string alias;
    Dwarf_Die at = *die;
    for (int hop = 0; hop < kMaxHops; ++hop) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &next))
            return {};
        at = next;
        const char* name = dwarf_diename(&at);
        if (dwarf_tag(&at) == DW_TAG_typedef)
            alias = name ? name : "";
        else if (is_structure(&at))
            return name && *name && *name != '.' ? std::string() : alias;
        else if (is_pointer(&at) || dwarf_tag(&at) == DW_TAG_array_type || dwarf_tag(&at) == DW_TAG_base_type)
            return {};
    }
    return {};
}

bool is_structure(Dwarf_Die* type) {
    const int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_pointer(Dwarf_Die* type) {
    const int tag = dwarf_tag(type);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

uint64_t size_of(Dwarf_Die* type) {
    if (const std::optional<uint64_t> bytes = number(type, DW_AT_byte_size))
        return *bytes;
    if (dwarf_tag(type) == DW_TAG_array_type)
        return bytes_of_array(shape_of_array(type));
    return is_pointer(type) ? 8 : 0;
}

uint32_t alignment_of(Dwarf_Die* type) { return alignment_within(type, 0); }

std::string name_of_type(Dwarf_Die* type, const std::string& alias) {
    std::string suffix, other_name = alias;
    Dwarf_Die at = *type;
    for (int hop = 0; hop < kMaxHops; ++hop) {
        const char* name = dwarf_diename(&at);
        if (!name || !*name || *name == '.') // "._anon": what clang's and gcc's C++ call what has no name
            name = other_name.empty() ? nullptr : other_name.c_str();
        const char* prefix = "";
        switch (dwarf_tag(&at)) {
        case DW_TAG_pointer_type:
            suffix = "*" + suffix;
            break;
        case DW_TAG_reference_type:
            suffix = "&" + suffix;
            break;
        case DW_TAG_rvalue_reference_type:
            suffix = "&&" + suffix;
            break;
        case DW_TAG_array_type:
            suffix = text_of_shape(shape_of_array(&at)) + suffix;
            break;
        case DW_TAG_structure_type:
            prefix = is_fortran(&at) ? "type " : other_name.empty() || name != other_name ? "struct " : "";
            return std::string(prefix) + (name ? name : "(unnamed)") + suffix;
        case DW_TAG_union_type:
            return std::string("union ") + (name ? name : "(unnamed)") + suffix;
        case DW_TAG_class_type:
            return std::string("class ") + (name ? name : "(unnamed)") + suffix;
        case DW_TAG_enumeration_type:
            return std::string("enum ") + (name ? name : "(unnamed)") + suffix;
        case DW_TAG_string_type:
            return "character" + suffix;
        case DW_TAG_subroutine_type:
            return "function" + suffix;
        default:
            return (name ? name : "") + suffix;
        }
        const std::optional<Dwarf_Die> next = type_of(&at);
        if (!next)
            return "void" + suffix;
        other_name = alias_of(&at);
        at = *next;
    }
    return {};
}

std::optional<MemberRange> range_of_member(Dwarf_Die* member) {
    Dwarf_Attribute attribute;
    bool flag = false;
    for (unsigned name : {DW_AT_external, DW_AT_declaration}) // static members
        if (dwarf_attr(member, name, &attribute) && dwarf_formflag(&attribute, &flag) == 0 && flag)
            return std::nullopt;
    MemberRange range;
    std::optional<Dwarf_Die> type = type_of(member);
    range.bytes = type ? size_of(&*type) : 0;
    if (dwarf_attr(member, DW_AT_data_member_location, &attribute)) {
        Dwarf_Word offset = 0;
        Dwarf_Op* operations = nullptr;
        size_t count = 0;
        if (dwarf_formudata(&attribute, &offset) == 0)
            range.offset = offset;
        else if (dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 &&
                 operations[0].atom == DW_OP_plus_uconst)
            range.offset = operations[0].number;
        else
            return std::nullopt; // a virtual base
    }
    if (const auto bits = number(member, DW_AT_bit_size)) {
        range.bit_field = true;
        const uint64_t first = number(member, DW_AT_data_bit_offset).value_or(range.offset * 8);
        if (!number(member, DW_AT_bit_offset)) { // DWARF 2 counts within the unit of storage: leave it whole
            range.offset = first / 8;
            range.bytes = (first % 8 + std::min<uint64_t>(*bits, 128) + 7) / 8;
        }
    }
    return range;
}

bool is_packed(Dwarf_Die* structure) { return layout_of(structure, 0).packed; }

} // namespace plumb::symbols
