// Who took CPUs away from the ranks of a job, as the replay asks for it: how much in any stretch of time.
#pragma once

#include "noise/takers.h"
#include "replay/events/job.h"

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
