// Collects what the cycles of one run cost, and what of it which events made.
#pragma once

#include "simulate/cpu_clock.h"
#include "simulate/outcome.h"
#include "simulate/rank_noise.h"

#include <vector>

namespace plumb::simulate {

class LossAccount {
  public:
    explicit LossAccount(const RankNoise& noise) : noise_(noise) {
        outcome_.delay_of_class_s.assign(noise.machine().classes.size(), 0.0);
    }

    // The last rank of a cycle came `excess_s` later than the one with the most work would have; `delays` made it late. They
    // are more than the excess where the last rank has less work than that one.
    void add(double excess_s, const std::vector<Delay>& delays);
    void end_cycle(double cycle_s, double quiet_s);
    Outcome outcome(uint64_t looked_at) const;

  private:
    const RankNoise& noise_;
    Outcome outcome_;
};

std::vector<double> expected_events(const RankNoise& noise, double time_s); // of each class on CPUs of ranks

} // namespace plumb::simulate
