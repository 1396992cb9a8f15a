#include "symbols/elf/symbol_table.h"

#include "symbols/elf/linkage_stubs.h"
#include "symbols/elf/names.h"

#include <algorithm>
#include <cstring>

namespace plumb::symbols {

SymbolTable::SymbolTable(Dwfl_Module* module, const ElfImage* image) {
    if (image) {
        for (const Section& section : image->sections())
            if (section.executable)
                code_.push_back(section);
        std::sort(code_.begin(), code_.end(),
                  [](const Section& a, const Section& b) { return a.address < b.address; });
    }
    read_symbols(module);
    if (image)
        read_linkage_table(*image);
}

void SymbolTable::read_symbols(Dwfl_Module* module) {
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        GElf_Word section = 0;
        const char* name =
            dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
        if (name && !has_fortran_ && !std::strncmp(name, "_gfortran_", 10))
            has_fortran_ = true;
        if (!name || !*name || *name == '$' || section == SHN_UNDEF || section == SHN_ABS || address == 0)
            continue;
        const int type = GELF_ST_TYPE(symbol.st_info), binding = GELF_ST_BIND(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
            continue;
        // Of aliases show the one that other people know: a function before a mere label, without underscores in
        // front (write is a weak alias of __write), global before weak before local.
        int rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 10 : 20;
        rank += type == STT_NOTYPE ? 40 : 0;
        rank += symbol.st_size == 0 ? 40 : 0;
        for (const char* c = name; *c == '_' && c < name + 3; ++c)
            rank += 6;
        symbols_.push_back({address, symbol.st_size ? address + symbol.st_size : 0, name, rank});
    }
    std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.rank > b.rank; // the best one last
    });
}

void SymbolTable::read_linkage_table(const ElfImage& image) {
    for (const LinkageStub& stub : read_linkage_stubs(image)) {
        std::string name = stub.symbol;
        if (name.empty()) {
            const Symbol* resolver = find(stub.resolver);
            if (!resolver)
                continue;
            name = resolver->name;
        }
        stubs_.push_back({stub.begin, stub.end, readable(name.c_str()) + "@plt"});
    }
}

std::string SymbolTable::readable(const char* name) const {
    return has_fortran_ ? readable_fortran_name(name) : readable_name(name);
}

const SymbolTable::Symbol* SymbolTable::find(uint64_t address) const {
    uint64_t lowest = 0; // a symbol without a size does not reach over the begin of its section
    if (!code_.empty()) {
        auto section = std::upper_bound(code_.begin(), code_.end(), address,
                                        [](uint64_t a, const Section& s) { return a < s.address; });
        if (section == code_.begin() || address - std::prev(section)->address >= std::prev(section)->bytes)
            return nullptr;
        lowest = std::prev(section)->address;
    }
    auto symbol = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                   [](uint64_t a, const Symbol& s) { return a < s.begin; });
    const Symbol* label = nullptr;
    // Labels and small functions may lie inside larger ones: look a few symbols back for one that encloses.
    for (int steps = 0; symbol != symbols_.begin() && steps < 16; ++steps) {
        --symbol;
        if (symbol->begin < lowest)
            break;
        if (symbol->end > address)
            return &*symbol;
        if (symbol->end == 0 && steps == 0)
            label = &*symbol;
    }
    return label;
}

std::optional<CodeBounds> SymbolTable::bounds_of(uint64_t address) const {
    const Symbol* symbol = find(address);
    return symbol && symbol->end > address ? std::optional(CodeBounds{symbol->begin, symbol->end}) : std::nullopt;
}

std::optional<SymbolMatch> SymbolTable::at(uint64_t address) const {
    auto stub = std::upper_bound(stubs_.begin(), stubs_.end(), address,
                                 [](uint64_t a, const Stub& s) { return a < s.begin; });
    if (stub != stubs_.begin() && address < std::prev(stub)->end)
        return SymbolMatch{std::prev(stub)->name, 0};
    if (const Symbol* symbol = find(address))
        return SymbolMatch{readable(symbol->name), address - symbol->begin};
    return std::nullopt;
}

} // namespace plumb::symbols
