// Which runs count, and whether a cure changes what the program does: from the runs alone.
//
// What the program does by itself is no cure's fault. So the judge asks all runs of the base first: an output that is not the
// same in all of them is not compared, and an exit status that one of them had only keeps a run from counting. A cure has
// failed when two of its runs did what no run of the base did: one may be the base's own rare case.
#pragma once

#include "trial/timed_run.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace plumb::trial {

using Rounds = std::vector<std::optional<TimedRun>>; // by round; none: it was not run in that one

struct Pairs {
    std::vector<TimedRun> base, cure; // base[i] beside cure[i]
    size_t not_counted = 0;           // one of the two ended otherwise than the program does
    std::string failure;              // what the cure changes; empty: nothing that is known
};

class Judge {
  public:
    // `names`: of what is compared, as TimedRun::fingerprints.
    explicit Judge(std::vector<std::string> names) : names_(std::move(names)) {}

    void add_base(const TimedRun& run); // each, those that warm up as well

    int usual_status() const;          // 0 if any run of the base ended with it, else the most frequent one
    std::vector<int> statuses() const; // of the base: each once
    size_t base_runs() const { return base_.size(); }
    size_t unusual_runs() const;               // of the base
    std::vector<std::string> changing() const; // names of outputs that change by themselves
    bool compares(size_t output) const;

    // Runs of `base` and `cure` in the same rounds.
    Pairs pairs_of(const Rounds& base, const Rounds& cure) const;

  private:
    std::string difference_of(const TimedRun& run) const; // in words; empty: the base did the same

    std::vector<std::string> names_;
    std::vector<TimedRun> base_;
};

std::vector<double> walls_of(const std::vector<TimedRun>& runs);

} // namespace plumb::trial
