// Patterns of messages by their counts alone: whom each rank sends to. Ranks are dealt to the cells of the pattern at random where a
// seed is given, so that an order that recovers the pattern is known to be the best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::tools {

class MpiMatrix {
  public:
    // "halo:32x16", "torus:8x8x8" (a halo whose ends meet), "transpose:16x32" (each with all of its row and of its column), "random:4"
    // (that many partners each, drawn); `shuffle`: 0: rank r has cell r. Throws plumb::Error for any other, or another number of ranks.
    MpiMatrix(const std::string& pattern, int ranks, uint64_t shuffle);

    // Of a rank, ascending; the same for both directions.
    std::vector<int> partners(int rank) const;

  private:
    void join(uint32_t cell, uint32_t other);

    std::vector<uint32_t> cell_of_, rank_in_;
    std::vector<std::vector<uint32_t>> partners_; // by cell
};

} // namespace plumb::tools
