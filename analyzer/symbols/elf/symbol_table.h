// The linker's symbols of one file, by address: .symtab, else .dynsym with .gnu_debugdata, and the entries of its
// procedure linkage table.
#pragma once

#include "symbols/elf/elf_image.h"
#include "symbols/elf/function_bounds.h"

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <optional>
#include <string>
#include <vector>

namespace plumb::symbols {

struct SymbolMatch {
    std::string name; // readable
    uint64_t offset = 0;
};

class SymbolTable {
  public:
    // `module` is loaded at the addresses of the file itself. Both must outlive the table. `image` may be null.
    SymbolTable(Dwfl_Module* module, const ElfImage* image);

    // The symbol that covers `address`. A symbol with a size covers nothing beyond it: code between two exported
    // functions of a stripped library belongs to neither. One without (assembler) reaches to the next.
    std::optional<SymbolMatch> at(uint64_t address) const;

    // Of a symbol with a size that covers `address`.
    std::optional<CodeBounds> bounds_of(uint64_t address) const;

    bool empty() const { return symbols_.empty(); }

  private:
    struct Symbol {
        uint64_t begin, end; // end 0: no size
        const char* name;
        int rank; // of several at one address the lowest is shown
    };
    void read_symbols(Dwfl_Module* module);
    void read_linkage_table(const ElfImage& image);
    const Symbol* find(uint64_t address) const;
    std::string readable(const char* name) const;

    std::vector<Symbol> symbols_; // by begin
    std::vector<Section> code_;   // by address; empty: not known
    bool has_fortran_ = false;    // it calls gfortran's library
    struct Stub {
        uint64_t begin, end;
        std::string name; // "memcpy@plt"
    };
    std::vector<Stub> stubs_; // by begin
};

} // namespace plumb::symbols
