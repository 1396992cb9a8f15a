// Names of the kernel's functions. The kernel writes its hundred thousand symbols anew at every read of /proc/kallsyms, which
// takes longer than the rest of a small report: they are kept in a private file until the machine starts again.
#pragma once

#include "symbols/address_names.h"

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace plumb::symbols {

// Functions between _stext and _etext, which stay where they are while the kernel runs; those of modules do not.
class KernelTable {
  public:
    // The kept file. Not valid where it is missing, of another boot or damaged.
    KernelTable(const std::string& folder, const std::string& name, const std::string& machine);
    ~KernelTable();
    KernelTable(const KernelTable&) = delete;
    KernelTable& operator=(const KernelTable&) = delete;

    bool is_valid() const { return count_ > 0; }
    bool covers(uint64_t address) const { return address >= base_ && address < end_; }
    std::optional<std::pair<std::string, uint64_t>> at(uint64_t address) const;

    // Such a file's content; empty: `names` do not show where the kernel's own functions lie.
    static std::string format(const AddressNames& names, const std::string& machine);

  private:
    bool read(std::string_view file, const std::string& machine);

    void* data_ = nullptr; // mapped: a report asks for a few names out of 4 MiB
    size_t bytes_ = 0, text_bytes_ = 0;
    uint64_t base_ = 0, end_ = 0;
    uint32_t count_ = 0;
    const uint32_t* begins_ = nullptr; // sorted, from base_
    const uint32_t* names_ = nullptr;  // where each begins in text_
    const char* text_ = nullptr;       // with a zero behind each
};

class KernelNames {
  public:
    // `root` is put before /proc. `folder`: see platform::user_cache_folder; empty: nothing is kept. Where nothing is known yet,
    // a thread begins to read.
    KernelNames(const std::string& root, const std::string& folder);
    ~KernelNames();

    // Name and offset into it. Nothing where the kernel shows zeros instead of addresses.
    std::optional<std::pair<std::string, uint64_t>> at(uint64_t address);

  private:
    const std::string path_, folder_, file_, machine_;
    KernelTable table_;
    std::future<AddressNames> reading_;
    std::optional<AddressNames> names_;
};

} // namespace plumb::symbols
