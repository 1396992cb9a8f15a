// By how much two sets of measurements differ, and whether that is known. Without the assumption of any distribution: times of
// runs have long tails.
#pragma once

#include <cstddef>
#include <span>

namespace plumb::statistics {

// Of the others against the base: 1.03 is 3 % more.
struct Difference {
    double base_median = 0, other_median = 0;
    double ratio = 1;         // Hodges and Lehmann's estimate: the median of all ratios of two values
    double low = 0, high = 0; // 95 % confidence interval unless another was asked for; meaningless unless is_known
    bool is_known = false;    // there are enough values for an interval
    size_t base_count = 0, other_count = 0;
    // 99 %, or that of the extreme values where there are too few for it: an interval of 95 % sees a difference in one of twenty sets
    // that have none.
    double certain_low = 0, certain_high = 0;

    // There is one by the interval of 99 %, and by that of 95 % it is more than `least`, the same way. The interval of 99 % beyond
    // `least` would ask for too much: with `least` 0.5 %, a true 3 % and pairs that scatter by 1.2 % it missed one in seven sets of ten
    // pairs, this one in a hundred. Of sets without a difference one in a hundred seems to have one at most; with this scatter, one in
    // a thousand.
    bool is_certain(double least = 0) const {
        return is_known && ((certain_low > 1 && low > 1 + least) || (certain_high < 1 && high * (1 + least) < 1));
    }
    // By the interval of 95 % it is less than this either way.
    bool is_within(double fraction) const { return is_known && low > 1 - fraction && high < 1 + fraction; }
};

// The same for amounts, which may be 0: by how much more, in their unit.
struct Shift {
    double base_median = 0, other_median = 0;
    double more = 0, low = 0, high = 0;
    bool is_known = false;
    bool is_one() const { return is_known && (low > 0 || high < 0); }
};
Shift shift_of(std::span<const double> base, std::span<const double> other);

// Values above 0, in any order; at least one each. An interval needs four of each, or more of one of them.
Difference difference_of(std::span<const double> base, std::span<const double> other);

// Values that were taken in turns: base[i] beside other[i]. What changes slowly changes both, and is no difference. An interval
// needs six pairs. `tail`: the chance that chance alone puts the truth beyond one end of it; a smaller one needs more pairs.
inline constexpr double kTailOf95 = 0.025;
Difference paired_difference_of(std::span<const double> base, std::span<const double> other, double tail = kTailOf95);
Shift paired_shift_of(std::span<const double> base, std::span<const double> other);

double median_of(std::span<const double> values); // not empty

} // namespace plumb::statistics
