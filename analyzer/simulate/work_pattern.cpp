#include "simulate/work_pattern.h"

#include "simulate/random_numbers.h"

#include <algorithm>
#include <numeric>

namespace plumb::simulate {

WorkPattern::WorkPattern(uint32_t ranks, std::span<const double> work_s) : ranks_(ranks) {
    const size_t steps = work_s.size() / ranks;
    mean_s_ = std::accumulate(work_s.begin(), work_s.end(), 0.0) / static_cast<double>(work_s.size());
    for (size_t step = 0; step < steps; step++) {
        const std::span<const double> of_ranks_s = work_s.subspan(step * ranks, ranks);
        const double step_s = std::accumulate(of_ranks_s.begin(), of_ranks_s.end(), 0.0) / ranks;
        of_step_.push_back(mean_s_ > 0 ? step_s / mean_s_ : 1);
        for (const double rank_s : of_ranks_s)
            of_rank_.push_back(step_s > 0 ? static_cast<float>(rank_s / step_s) : 1);
        most_of_rank_.push_back(*std::max_element(of_rank_.end() - ranks, of_rank_.end()));
    }
}

size_t WorkPattern::step_of_copy(uint32_t copy, uint32_t cycle) const {
    const uint64_t shift = copy == 0 ? 0 : key_of(copy, of_step_.size()) % of_step_.size();
    return (cycle + shift) % of_step_.size();
}

double WorkPattern::largest_share(uint32_t ranks_of_job, uint32_t cycle) const {
    float most = 0;
    const uint32_t whole = ranks_of_job / ranks_;
    for (uint32_t copy = 0; copy < whole; copy++)
        most = std::max(most, most_of_rank_[step_of_copy(copy, cycle)]);
    for (uint32_t rank = 0; rank < ranks_of_job % ranks_; rank++)
        most = std::max(most, of_rank_[step_of_copy(whole, cycle) * ranks_ + rank]);
    return of_step_[cycle % of_step_.size()] * static_cast<double>(most);
}

} // namespace plumb::simulate
