// Keeps recording below its share of the run: above it, samples are taken in fewer and fewer randomly chosen slices of
// time, each sample standing for more of it.
#pragma once

#include "support/xorshift.h"

#include <cstdint>

namespace plumb::record {

// Which samples are taken, and what each stands for.
struct SampleChoice {
    uint64_t weight = 1;  // in samples: a power of two
    bool is_made = false; // samples of all slices of time arrive: one of `weight` slices is taken, by chance
    bool wants(uint64_t time_ns) const;
};

class OverheadGovernor {
  public:
    // `fraction`: of the run's CPU time, or of the wall time where that is longer.
    explicit OverheadGovernor(double fraction) : fraction_(fraction) {}

    // Totals so far; call it about once a second. `own_ns`: recorder and samples together. `spared_ns`: the part of it that
    // fewer samples would make smaller; where that is small, fewer of them help nobody.
    void look(uint64_t now_ns, uint64_t own_ns, uint64_t spared_ns, uint64_t run_cpu_ns);

    // Whether the next slice of time is sampled: always while there is room, else one of weight() slices by chance.
    bool wants_slice();
    bool is_throttling() const { return level_ > 0; }
    uint64_t weight() const { return uint64_t{1} << level_; } // how many slices one sampled slice stands for
    uint64_t throttled_ns() const { return throttled_ns_; }

    static constexpr uint64_t kSlice_ns = 20'000'000;

  private:
    static constexpr int kMostLevel = 4; // beyond that the few slices would say too little
    double fraction_;
    int level_ = 0;
    uint64_t last_ns_ = 0, last_own_ns_ = 0, last_spared_ns_ = 0, last_run_ns_ = 0, throttled_ns_ = 0;
    Xorshift random_;
};

} // namespace plumb::record
