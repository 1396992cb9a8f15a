// When enough pairs of runs were measured to say whether a cure helps: a sequential test, pure arithmetic on the pairs so far.
//
// Pair i is a run without the cure and one with it, in the same round. The ratios of the pairs give an interval by Wilcoxon's
// signed ranks, without a distribution of times. It is looked at after 6, 8, 10, 13, 17, 22, 30 and 40 pairs, each time with a
// part of 2.5 % for either side (kLooks): by the union bound the truth lies below any of these intervals with a chance of at
// most 2.5 % for all looks together, above them the same. So a cure that gains nothing is called better in at most 2.5 % of all
// trials, however early they end. Most is spent on the first looks, where rank tests cannot prove anything for less: clear
// cases are the common ones.
#pragma once

#include <cstddef>
#include <span>

namespace plumb::trial {

enum class Verdict {
    undecided,
    better,    // a gain is certain, and at least `worth` is measured
    worse,     // a loss is certain, and at least `worth` is measured
    too_small, // a gain of `worth` is ruled out
    unlikely,  // a gain of `worth` could hardly be shown any more: not tried further
};

struct DecisionRules {
    double worth = 0.02;       // fraction of the wall time below which a gain is worth nobody's work
    size_t most_pairs = 40;    // at most kMostPairs
    double least_chance = 0.1; // below this chance to show such a gain a cure is given up
};

inline constexpr size_t kLeastPairs = 6, kMostPairs = 40; // of the first look, and of the last

struct Decision {
    Verdict verdict = Verdict::undecided;
    double gain = 0;          // fraction of the wall time saved, negative: lost. 0 without pairs
    double low = 0, high = 0; // 95 % interval of it over all looks; meaningless unless is_known
    bool is_known = false;
    size_t pairs = 0;
};

// `is_last`: no pair will follow these, so that this is a look whatever their number; to
// be asked for once, and not because of what the pairs say. Times above 0.
Decision decide(std::span<const double> base_s, std::span<const double> cure_s, const DecisionRules& rules,
                bool is_last = false);

// The chance that one of so many cures is called better although none gains anything, at most; `is_again`: called so once more,
// by new pairs alone.
double chance_of_false(size_t cures, bool is_again);

// How likely the pairs so far make it that a gain of `worth` is shown after `most_pairs`, if the others scatter around them as
// these do.
double chance_to_show(std::span<const double> base_s, std::span<const double> cure_s, const DecisionRules& rules);

} // namespace plumb::trial
