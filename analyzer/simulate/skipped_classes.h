// The classes of noise that may be left out where they cannot matter, and what they can do at most.
#pragma once

#include "simulate/rank_noise.h"

#include <cstdint>
#include <vector>

namespace plumb::simulate {

struct SkippedClasses {
    std::vector<uint32_t> watched; // classes of which each event is looked at
    std::vector<uint32_t> skipped; // the others, that with the longest events first

    // Of a CPU on which only the skipped classes from `first` on are at work: the most that they add to work_s of computing,
    // and the longest that they hold it without a break. Any rank.
    double most_delay_s(size_t first, double work_s) const;
    double longest_busy_s(size_t first) const;
    // Events before this time before a moment say nothing of that moment, whatever they were: even a CPU that the skipped
    // classes kept as busy as they can has been free since.
    double memory_s() const { return 2 * longest_busy_s(0); }

    struct Limit {
        double length_s = 0, period_s = 0, most_shift = 0;
    };
    std::vector<Limit> limits; // of the skipped, in their order
};

// Skipped are periodic classes with short tails, the most frequent ones first, until nine tenths of the events are skipped or
// no such class is left; together they take half of a CPU at most.
SkippedClasses choose_skipped(const RankNoise& noise);

} // namespace plumb::simulate
