// Ranks on a periodic grid of one to three dimensions, as near to a cube as their number allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plumb::simulate {

class RankGrid {
  public:
    RankGrid(uint32_t ranks, int dimensions) {
        // Each prime factor, the largest first, goes to the dimension that is the shortest so far.
        std::array<uint32_t, 32> primes{};
        size_t count = 0;
        uint32_t rest = ranks;
        for (uint32_t prime = 2; prime * prime <= rest; prime++)
            for (; rest % prime == 0; rest /= prime)
                primes[count++] = prime;
        if (rest > 1)
            primes[count++] = rest;
        while (count > 0) {
            size_t shortest = 0;
            for (size_t i = 1; i < static_cast<size_t>(dimensions); i++)
                if (lengths_[i] < lengths_[shortest])
                    shortest = i;
            lengths_[shortest] *= primes[--count];
        }
    }

    const std::array<uint32_t, 3>& lengths() const { return lengths_; }

    // Two in each dimension longer than 1, perhaps the same one twice.
    template <class OnNeighbour> void for_each_neighbour(uint32_t rank, OnNeighbour on_neighbour) const {
        uint32_t stride = 1;
        for (const uint32_t length : lengths_) {
            if (length > 1) {
                const uint32_t place = rank / stride % length, row = rank - place * stride;
                on_neighbour(row + (place + 1 < length ? place + 1 : 0) * stride);
                on_neighbour(row + (place > 0 ? place - 1 : length - 1) * stride);
            }
            stride *= length;
        }
    }

  private:
    std::array<uint32_t, 3> lengths_{1, 1, 1};
};

} // namespace plumb::simulate
