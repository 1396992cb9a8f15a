// The entries of a section of call-frame information, sorted by the code that they describe: what .eh_frame_hdr is where there is one.
#pragma once

#include "unwind/frame_section.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plumb::unwind {

struct FunctionRange {
    uint64_t start, end; // addresses of the image; `end`: where the next one with a table entry begins
};

class FrameIndex {
  public:
    // Takes about 0.1 us an entry. Any content is safe.
    explicit FrameIndex(FrameSection section);

    bool empty() const { return entries_.empty(); }

    // The code of the entry that describes `address` of the image.
    std::optional<FunctionRange> range_at(uint64_t address) const;

    // Rule at an address of the image, packed as plumb::shim::UnwindRule does: no_table where no entry describes it.
    uint64_t rule_at(uint64_t address) const;

  private:
    struct Entry {
        uint64_t begin, end;
        size_t offset; // in the section
    };
    const Entry* entry_at(uint64_t address) const;
    uint64_t shift() const; // of addresses within the copy, against those of the image

    FrameSection section_;
    std::vector<Entry> entries_; // sorted by `begin`
};

} // namespace plumb::unwind
