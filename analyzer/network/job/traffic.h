// Who sends how much to whom: the messages of a job, by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::network {

struct PairTraffic {
    uint32_t from = 0, to = 0; // ranks
    uint64_t messages = 0, bytes = 0;
};

struct Traffic {
    uint32_t ranks = 0;
    std::vector<PairTraffic> pairs; // each once, by `to`, then `from`; none from a rank to itself

    // In that order, from any: what belongs to one pair is added up, what a rank sends to itself is left out. Throws Error where a rank
    // is not below `ranks`.
    static Traffic of(uint32_t ranks, std::vector<PairTraffic> pairs);

    uint64_t bytes() const;
    uint64_t messages() const;
};

// The same without directions, for each rank the others that it sends to or receives from.
struct Partners {
    std::vector<size_t> first;    // by rank, and one more
    std::vector<uint32_t> ranks;  // ascending
    std::vector<uint64_t> bytes;  // both directions together

    Partners() = default;
    explicit Partners(const Traffic& traffic);
    uint32_t count() const { return static_cast<uint32_t>(first.size() - 1); }
};

} // namespace plumb::network
