// Names for the data of one file and for what its code touches. Addresses come in as those of the file; the debug
// info's own may differ from them by a bias.
#pragma once

#include "model/source_resolver.h"
#include "symbols/data/statics.h"
#include "symbols/data/symbols.h"
#include "symbols/elf/elf_image.h"
#include "symbols/dwarf/unit_index.h"

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <memory>
#include <optional>
#include <vector>

namespace plumb::symbols {

class DataNames {
  public:
    // `dwarf` and `units` are null where there is no debug info. All must outlive this.
    DataNames(const ElfImage& file, Dwfl_Module* module, Dwarf* dwarf, Dwarf_Addr debug_bias, UnitIndex* units);

    // The static or common block at `address`; by debug info, else by the linker's symbol, else by section and offset
    // (".bss+0x40"). `width`, `instruction`: of the access, 0: not known; `scopes`: around the instruction, as
    // UnitFunctions::scopes_at says.
    std::optional<model::DataName> static_at(uint64_t address, uint32_t width, uint64_t instruction,
                                             const std::vector<Dwarf_Die>& scopes);

  private:
    std::optional<model::DataName> by_debug_info(uint64_t address, uint32_t width, uint64_t instruction,
                                                 const std::vector<Dwarf_Die>& scopes, const DataSymbol* symbol);
    model::DataName describe(const StaticVariable& variable, uint64_t debug_address, uint32_t width, int* fit);
    void describe_block(const StaticVariable& variable, uint64_t debug_address, const DataSymbol* symbol,
                        model::DataName& name);
    DataStatics* statics();

    const ElfImage& file_;
    Dwarf* dwarf_;
    uint64_t bias_; // file address = debug address + bias
    UnitIndex* units_;
    DataSymbols symbols_;
    std::unique_ptr<DataStatics> statics_;
};

// Whether the file has data at an address; executable pages do not count.
bool has_data_at(const ElfImage& file, uint64_t address);

} // namespace plumb::symbols
