#include "symbols/dwarf/scope_names.h"

#include "symbols/elf/names.h"

#include <dwarf.h>
#include <vector>

namespace plumb::symbols {

namespace {

constexpr int kMaxHops = 16; // specification and abstract_origin chains, and nesting: longer ones are damage

// The DIE that declares `die`'s function: where its enclosing scopes are the ones of the source.
Dwarf_Die declaration_of(Dwarf_Die die) {
    for (int hop = 0; hop < kMaxHops; ++hop) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!(dwarf_attr(&die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &next)) &&
            !(dwarf_attr(&die, DW_AT_specification, &attribute) && dwarf_formref_die(&attribute, &next)))
            break;
        die = next;
    }
    return die;
}

// Ancestors of `die` from its unit inwards, without itself. Siblings lie in ascending order, so each level is walked
// only up to the one that contains it.
std::vector<Dwarf_Die> ancestors(Dwarf_Die* die) {
    std::vector<Dwarf_Die> path;
    const Dwarf_Off wanted = dwarf_dieoffset(die);
    Dwarf_Die level;
    if (!dwarf_diecu(die, &level, nullptr, nullptr))
        return path;
    path.push_back(level);
    while (path.size() < kMaxHops) {
        Dwarf_Die child;
        if (dwarf_child(&path.back(), &child) != 0)
            return path;
        Dwarf_Die next;
        while (dwarf_siblingof(&child, &next) == 0 && dwarf_dieoffset(&next) <= wanted)
            child = next;
        if (dwarf_dieoffset(&child) >= wanted)
            return path;
        path.push_back(child);
    }
    return path;
}

std::string scope_name(Dwarf_Die* scope) {
    const char* name = dwarf_diename(scope);
    switch (dwarf_tag(scope)) {
    case DW_TAG_namespace:
        return name ? name : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        if (!name || std::string_view(name).starts_with("._anon"))
            return "{lambda}"; // all that can hold a function and has no name
        if (std::string_view text = name; text.starts_with("<lambda") && text.ends_with(">"))
            return "{" + std::string(text.substr(1, text.size() - 2)) + "}";
        return name;
    case DW_TAG_module:
    case DW_TAG_enumeration_type:
        return name ? name : "";
    case DW_TAG_subprogram: {
        Dwarf_Die declared = declaration_of(*scope);
        const char* own = dwarf_diename(&declared);
        return own ? own : "";
    }
    default:
        return {};
    }
}

bool has_scopes_in_names(int language) {
    switch (language) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

bool is_fortran(int language) {
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08;
}

} // namespace

std::string function_name(Dwarf_Die* die) {
    Dwarf_Die unit;
    const int language = dwarf_diecu(die, &unit, nullptr, nullptr) ? dwarf_srclang(&unit) : -1;
    if (!is_fortran(language)) {
        Dwarf_Attribute attribute;
        const char* linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
        if (!linkage)
            linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
        if (linkage && *linkage)
            return readable_name(linkage);
    }
    const char* name = dwarf_diename(die); // follows origins
    if (!name || !*name)
        return {};
    Dwarf_Die declared = declaration_of(*die);
    // A parallel region lies inside the function that it was cut out of, and is called after that.
    if (const std::string region = omp_region_of(name); !region.empty())
        if (std::vector<Dwarf_Die> outer = ancestors(&declared); !outer.empty())
            if (dwarf_tag(&outer.back()) == DW_TAG_subprogram)
                return function_name(&outer.back()) + region;
    std::string result = readable_name(name);
    if (!has_scopes_in_names(language))
        return result;
    std::string scopes;
    for (Dwarf_Die& scope : ancestors(&declared))
        if (const std::string part = scope_name(&scope); !part.empty())
            scopes += part + "::";
    return tidy_name(scopes + result);
}

std::string static_name(Dwarf_Die* variable) {
    const char* text = dwarf_diename(variable); // follows origins
    const std::string name = text && *text ? text : "(unnamed)";
    Dwarf_Die declared = declaration_of(*variable);
    std::string scopes;
    for (Dwarf_Die& scope : ancestors(&declared)) {
        if (dwarf_tag(&scope) == DW_TAG_subprogram) // what encloses the function is in its name
            scopes = function_name(&scope) +
                     (dwarf_hasattr(&scope, DW_AT_main_subprogram) ? "::" : "()::"); // nobody calls a PROGRAM
        else if (const std::string part = scope_name(&scope); !part.empty())
            scopes += part + "::";
    }
    return tidy_name(scopes + name);
}

} // namespace plumb::symbols
