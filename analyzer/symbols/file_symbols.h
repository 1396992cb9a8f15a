// All that is known about the code and data of one ELF file: debug info first, then symbols. Opened on the first question that
// the cache cannot answer.
#pragma once

#include "model/source_resolver.h"
#include "symbols/data/locals.h"
#include "symbols/data/names.h"
#include "symbols/elf/debug_files.h"
#include "symbols/elf/function_bounds.h"
#include "symbols/elf/symbol_table.h"
#include "symbols/dwarf/unit_functions.h"
#include "symbols/dwarf/unit_index.h"

#include <elfutils/libdwfl.h>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::symbols {

class FileSymbols {
  public:
    // `image`: the file as it ran, or null if only its debug file is left. `debug`: its separate debug file or null.
    // Both must outlive this; at least one is there.
    FileSymbols(const DebugFileSearch& search, const ElfImage* image, const ElfImage* debug);
    ~FileSymbols();
    FileSymbols(const FileSymbols&) = delete;
    FileSymbols& operator=(const FileSymbols&) = delete;

    // Innermost first; `address` in the file's own address space. Empty: nothing is known. `module` stays empty.
    std::vector<model::SourceFrame> frames_at(uint64_t address);

    // The function alone, by the linker's symbols: debug info is not opened for it. Empty: no symbol covers `address`.
    std::vector<model::SourceFrame> function_at(uint64_t address);

    // First address of the unnamed function around `address`, if the file still tells.
    std::optional<uint64_t> function_start(uint64_t address);

    // Begin and end of the function around `address`, one without a gap: by debug info, the linker's symbol, or the table for
    // exceptions.
    std::optional<CodeBounds> function_bounds(uint64_t address);

    // DW_AT_producer of the unit whose code is there. Empty: not known.
    std::string producer_at(uint64_t address);

    // See DataNames::static_at.
    std::optional<model::DataName> static_at(uint64_t address, uint32_t width, uint64_t instruction);

    // What the code at `address` touches: see data_locals.h. Nothing without debug info.
    std::optional<model::DataName> local_at(uint64_t address, const model::DataAccess& access);
    std::optional<model::DataName> pointed_at(uint64_t address, const model::DataAccess& access);

    const std::string& missing_split_file() const { return missing_split_file_; } // name of one, empty: none missed

  private:
    static int find_debug_info(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base,
                               const char* file, const char* link, GElf_Word crc, char** result);
    std::optional<CodePlace> code_place(uint64_t address);
    void open_debug_info();
    void name_by_symbol(uint64_t address, std::vector<model::SourceFrame>& frames);
    UnitFunctions* unit_at(uint64_t address);
    const SymbolTable& symbol_table();

    const DebugFileSearch& search_;
    const ElfImage* image_;
    const ElfImage* debug_;
    Dwfl* session_ = nullptr;
    Dwfl_Module* module_ = nullptr;
    bool is_debug_info_open_ = false; // asked for: it may be missing all the same
    Dwarf* dwarf_ = nullptr;
    Dwarf_Addr debug_bias_ = 0; // file address = debug address + bias
    std::unique_ptr<UnitIndex> units_;
    std::unordered_map<Dwarf_Off, std::unique_ptr<UnitFunctions>> open_units_;
    std::unique_ptr<SymbolTable> symbols_;
    std::unique_ptr<FunctionBounds> bounds_;
    std::unique_ptr<DataNames> data_;
    std::string missing_split_file_;
};

} // namespace plumb::symbols
