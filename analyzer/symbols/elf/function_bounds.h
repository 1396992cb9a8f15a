// Where functions without a name begin and end, by the table that exceptions are unwound with (.eh_frame_hdr). It
// outlives stripping.
#pragma once

#include "symbols/elf/elf_image.h"

#include <cstdint>
#include <optional>
#include <span>

namespace plumb::symbols {

struct CodeBounds {
    uint64_t begin = 0, end = 0; // in the file's own address space; the end is not part of it
};

class FunctionBounds {
  public:
    // Empty if the file has no such table, or one in an encoding that linkers do not write. `image` must live on.
    explicit FunctionBounds(const ElfImage& image);

    // First address of the function that covers `address`; both in the file's own address space. A part that the
    // compiler moved away (.cold) counts as a function of its own.
    std::optional<uint64_t> start_of(uint64_t address) const;
    std::optional<CodeBounds> bounds_of(uint64_t address) const;

  private:
    uint64_t function_at(size_t index) const; // its first address, by the table
    uint64_t length_of(size_t index) const;   // 0: not known

    std::span<const char> table_;  // pairs of 4-byte offsets from table_base_: function, description
    std::span<const char> frames_; // .eh_frame
    uint64_t table_base_ = 0, frames_address_ = 0;
};

} // namespace plumb::symbols
