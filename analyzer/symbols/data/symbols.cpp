#include "symbols/data/symbols.h"

#include "symbols/elf/names.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace plumb::symbols {

namespace {

int rank_of(const GElf_Sym& symbol, const char* name) {
    const int binding = GELF_ST_BIND(symbol.st_info);
    int rank = binding == STB_LOCAL ? 20 : binding == STB_WEAK ? 10 : 0;
    for (const char* c = name; *c == '_' && c < name + 3; ++c) // environ before __environ
        rank += 6;
    return rank;
}

// "seed.0" -> "seed": compilers keep the statics of functions apart by a number.
std::string_view without_number(std::string_view name) {
    size_t end = name.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])))
        --end;
    const bool numbered = end < name.size() && end > 1 && name[end - 1] == '.';
    return numbered ? name.substr(0, end - 1) : name;
}

} // namespace

DataSymbols::DataSymbols(Dwfl_Module* module) {
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        GElf_Word section = 0;
        const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
        if (!name || !*name)
            continue;
        if (!has_fortran_ && !std::strncmp(name, "_gfortran_", 10))
            has_fortran_ = true;
        if (section == SHN_UNDEF || section == SHN_ABS || symbol.st_size == 0)
            continue;
        const int type = GELF_ST_TYPE(symbol.st_info);
        if (type == STT_TLS)
            thread_locals_.push_back({symbol.st_value, symbol.st_size, name, rank_of(symbol, name)});
        else if ((type == STT_OBJECT || type == STT_COMMON) && address != 0)
            statics_.push_back({address, symbol.st_size, name, rank_of(symbol, name)});
    }
    for (std::vector<DataSymbol>* symbols : {&statics_, &thread_locals_})
        std::sort(symbols->begin(), symbols->end(), [](const DataSymbol& a, const DataSymbol& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.rank > b.rank;
        });
}

const DataSymbol* DataSymbols::find(const std::vector<DataSymbol>& symbols, uint64_t address) {
    auto symbol = std::upper_bound(symbols.begin(), symbols.end(), address,
                                   [](uint64_t a, const DataSymbol& s) { return a < s.begin; });
    // A few steps back: symbols of parts may lie inside the symbol of the whole.
    for (int steps = 0; symbol != symbols.begin() && steps < 16; ++steps)
        if (--symbol; address - symbol->begin < symbol->size)
            return &*symbol;
    return nullptr;
}

std::string DataSymbols::readable(const DataSymbol& symbol) const {
    std::string_view name = symbol.linker_name;
    if (name.starts_with("_ZZ")) { // local to a function
        std::string text = readable_name(without_number(name));
        if (const size_t scope = text.rfind("::"); scope != text.npos && scope > 0 && text[scope - 1] != ')')
            text.insert(scope, "()");
        return text;
    }
    if (has_fortran_ && name.starts_with("equiv."))
        return "(equivalence)"; // gfortran's name for the storage that several variables share
    return readable_name(without_number(name));
}

std::string DataSymbols::common_block(const DataSymbol& symbol) const {
    if (!has_fortran_)
        return {};
    const std::string_view name = symbol.linker_name;
    if (name == "__BLNK__")
        return "//";
    const std::string readable = readable_fortran_name(name);
    const bool is_block = name.ends_with('_') && name.find('.') == name.npos && readable.size() < name.size() &&
                          name.starts_with(readable);
    return is_block ? "/" + readable + "/" : std::string();
}

} // namespace plumb::symbols
