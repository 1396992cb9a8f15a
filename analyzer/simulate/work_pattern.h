// How the work of ranks differs from step to step and from rank to rank, as it was recorded of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plumb::simulate {

// The work of a step against that of all, times what each rank did of it against the mean of the ranks. A larger job repeats
// the recorded ranks: all go through the same steps, but what one copy of a rank did of a step, another did of some other
// step, since what differs by chance does not coincide.
class WorkPattern {
  public:
    // work_s[step * ranks + rank], at least one step of at least one rank, none below 0.
    WorkPattern(uint32_t ranks, std::span<const double> work_s);

    double mean_s() const { return mean_s_; }
    // Against mean_s. Repeated after the last step.
    double share(uint32_t rank, uint32_t cycle) const {
        const size_t place = step_of_copy(rank / ranks_, cycle) * ranks_ + rank % ranks_;
        return of_step_[cycle % of_step_.size()] * static_cast<double>(of_rank_[place]);
    }
    double largest_share(uint32_t ranks_of_job, uint32_t cycle) const; // the most, of the first ranks of a job

  private:
    size_t step_of_copy(uint32_t copy, uint32_t cycle) const;

    uint32_t ranks_;
    double mean_s_ = 0;
    std::vector<double> of_step_;
    std::vector<float> of_rank_, most_of_rank_; // [step * ranks + rank]; of each step
};

} // namespace plumb::simulate
