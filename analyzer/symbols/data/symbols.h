// The linker's symbols of one file that name data: what is left where there is no debug info.
#pragma once

#include <cstdint>
#include <elfutils/libdwfl.h>
#include <optional>
#include <string>
#include <vector>

namespace plumb::symbols {

struct DataSymbol {
    uint64_t begin = 0, size = 0; // address in the file; of a thread-local one the offset in the file's TLS segment
    const char* linker_name = nullptr; // valid as long as the Dwfl session
    int rank = 0;                      // of several at one address the lowest is shown
};

class DataSymbols {
  public:
    // `module` is loaded at the addresses of the file itself.
    explicit DataSymbols(Dwfl_Module* module);

    // The symbol that covers the address. None without a size does.
    const DataSymbol* at(uint64_t address) const { return find(statics_, address); }
    const DataSymbol* thread_local_at(uint64_t offset) const { return find(thread_locals_, offset); }

    // As the source has it: "ns::cells", "solve()::seed", "seed" for a function's static of C, "constants::table".
    std::string readable(const DataSymbol& symbol) const;
    // "/pair/" and "//" in files that gfortran compiled; empty: it is none.
    std::string common_block(const DataSymbol& symbol) const;

    const std::vector<DataSymbol>& statics() const { return statics_; } // by begin

  private:
    static const DataSymbol* find(const std::vector<DataSymbol>& symbols, uint64_t address);

    std::vector<DataSymbol> statics_, thread_locals_; // by begin, the best of equals last
    bool has_fortran_ = false;
};

} // namespace plumb::symbols
