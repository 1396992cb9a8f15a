// Which of many ranges of addresses is the innermost around an address. Ranges of damaged files overlap as they like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace plumb::symbols {

class NestedRanges {
  public:
    struct Range {
        uint64_t begin, end; // end excluded
    };
    NestedRanges() = default;
    explicit NestedRanges(const std::vector<Range>& ranges); // O(n log n)

    // Index of the shortest range that holds `address`; of equally short ones the one that begins last. O(log n).
    std::optional<size_t> at(uint64_t address) const;

  private:
    struct Piece { // up to the next one
        uint64_t begin;
        size_t range; // kNone: none
    };
    static constexpr size_t kNone = SIZE_MAX;
    std::vector<Piece> pieces_;
};

} // namespace plumb::symbols
