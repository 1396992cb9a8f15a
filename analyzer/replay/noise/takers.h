// Who took CPUs away from the ranks of a job, as the replay asks for it: how much in any stretch of time.
#pragma once

#include "noise/takers.h"
#include "replay/events/job.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace plumb::replay {

class Takers {
  public:
    static constexpr size_t kMost = noise::FoundTakers::kMostTakers;
    using Sums = std::array<Nanoseconds, kMost>; // by taker

    // Of the thread of each rank that called MPI most, between MPI_Init and MPI_Finalize.
    Takers(const model::Run& run, const Job& job);

    const std::vector<model::NoiseTaker>& takers() const { return takers_; }
    std::vector<model::NoiseTaker> release() && { return std::move(takers_); }
    double recorded_share() const { return recorded_share_; }

    // For how long each took the CPU of this rank (a row of the job) in [begin, end); added to `sums`.
    void add_taken(uint32_t row, Nanoseconds begin, Nanoseconds end, Sums& sums) const;

    // Calls on_taken(taker, begin, end) for what it lost in [begin, end), by time; cut at both. A taker beyond takers(): one of
    // those left out.
    template <class OnTaken> void for_each_taken(uint32_t row, Nanoseconds begin, Nanoseconds end, OnTaken on_taken) const {
        const std::vector<Taken>& taken = taken_[row];
        for (auto one = std::ranges::upper_bound(taken, begin, {}, &Taken::end); one != taken.end() && one->begin < end; ++one)
            on_taken(one->taker, std::max(begin, one->begin), std::min(end, one->end));
    }

  private:
    struct Taken {
        Nanoseconds begin = 0, end = 0;
        uint32_t taker = 0;
    };
    std::vector<model::NoiseTaker> takers_;
    std::vector<std::vector<Taken>> taken_; // by row, then by time; they do not overlap
    double recorded_share_ = 1;
};

} // namespace plumb::replay
