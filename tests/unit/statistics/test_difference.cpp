// Differences of two sets of runs: against published tables of the rank tests, and by how often intervals hold the truth.
#include "statistics/difference.h"
#include "statistics/rank_sums.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace plumb;
using namespace plumb::statistics;

namespace {

// Times of runs: a least one, and a tail.
class RunTimes {
  public:
    explicit RunTimes(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}
    std::vector<double> draw(size_t count, double mean_s, double spread) {
        std::vector<double> times;
        while (times.size() < count)
            times.push_back(mean_s * (1 - spread * std::log(1 - static_cast<double>(random_.next() >> 11) * 0x1p-53)));
        return times;
    }

  private:
    Xorshift random_;
};

} // namespace

TEST_CASE("bounds of rank sums are those of the tables") {
    // Critical values of U, two-sided 5 %: U at most that; the bound is one more.
    CHECK(rank_sum_bound(3, 3, 0.025) == 0);
    CHECK(rank_sum_bound(4, 4, 0.025) == 1);
    CHECK(rank_sum_bound(5, 5, 0.025) == 3);
    CHECK(rank_sum_bound(5, 8, 0.025) == 7);
    CHECK(rank_sum_bound(8, 5, 0.025) == 7);
    CHECK(rank_sum_bound(10, 10, 0.025) == 24);
    CHECK(rank_sum_bound(20, 20, 0.025) == 128);
    // Of Wilcoxon's W.
    CHECK(signed_rank_bound(5, 0.025) == 0);
    CHECK(signed_rank_bound(6, 0.025) == 1);
    CHECK(signed_rank_bound(10, 0.025) == 9);
    CHECK(signed_rank_bound(20, 0.025) == 53);
    CHECK(signed_rank_bound(25, 0.025) == 90);
}

TEST_CASE("where counting gets long, the normal approximation goes on from it") {
    CHECK(static_cast<double>(rank_sum_bound(31, 30, 0.025)) == Approx(static_cast<double>(rank_sum_bound(30, 30, 0.025))).epsilon(0.05));
    CHECK(static_cast<double>(signed_rank_bound(61, 0.025)) == Approx(static_cast<double>(signed_rank_bound(60, 0.025))).epsilon(0.05));
    CHECK(signed_rank_bound(61, 0.025) > signed_rank_bound(60, 0.025));
}

TEST_CASE("a difference is estimated by the median of all ratios, with an interval from enough values") {
    const std::vector<double> base{10, 11, 12, 13, 14}, twice{20, 22, 24, 26, 28};
    const Difference difference = difference_of(base, twice);
    CHECK(difference.base_median == 12);
    CHECK(difference.other_median == 24);
    CHECK(difference.ratio == Approx(2));
    REQUIRE(difference.is_known);
    CHECK(difference.low < 2);
    CHECK(difference.high > 2);
    CHECK(difference.is_certain());
    CHECK_FALSE(difference_of(base, base).is_certain());
    CHECK(difference_of(base, base).is_within(0.5));
    CHECK_FALSE(difference_of(base, base).is_within(0.01));

    const std::vector<double> one{10}, two{20};
    CHECK_FALSE(difference_of(one, two).is_known);
    CHECK_FALSE(difference_of(one, two).is_certain()); // a single run says nothing
    CHECK(difference_of(one, two).ratio == Approx(2));
}

TEST_CASE("amounts that may be nothing are compared by what is more of them") {
    const std::vector<double> none(5, 0.0), some{0.9, 1.0, 1.0, 1.1, 1.2};
    const Shift shift = shift_of(none, some);
    CHECK(shift.more == Approx(1.0));
    CHECK(shift.is_one());
    CHECK(shift.low == Approx(0.9));
    CHECK_FALSE(shift_of(some, some).is_one());
    CHECK_FALSE(shift_of(none, none).is_one());
    CHECK_FALSE(shift_of(std::vector{1.0}, std::vector{2.0}).is_known);
}

TEST_CASE("of pairs what changes both is no difference") {
    std::vector<double> base, other;
    for (int i = 0; i < 10; i++) {
        base.push_back(10 + 3 * i); // the machine gets slower and slower
        other.push_back(base.back() * (1.03 + 0.002 * (i % 3)));
    }
    CHECK_FALSE(difference_of(base, other).is_certain());
    const Difference paired = paired_difference_of(base, other);
    REQUIRE(paired.is_certain());
    CHECK(paired.ratio == Approx(1.032).epsilon(0.001));
    CHECK(paired.low > 1.029);
    CHECK(paired.high < 1.035);
    const Shift shift = paired_shift_of(base, other);
    CHECK(shift.is_one());
    CHECK(shift.more == Approx(0.032 * 23.5).epsilon(0.05));
    CHECK_FALSE(shift_of(base, other).is_one());
    CHECK_FALSE(paired_difference_of(std::vector<double>(5, 1.0), std::vector<double>(5, 2.0)).is_known);
}

TEST_CASE("intervals hold the truth about as often as they say, and equal sets seldom seem to differ", "[odds]") {
    constexpr int kRounds = 2000;
    for (const size_t count : {5u, 10u, 20u}) {
        int held = 0, found = 0, false_alarms = 0, paired_held = 0, paired_known = 0;
        for (int round = 0; round < kRounds; round++) {
            RunTimes times(static_cast<uint64_t>(round) + 1000 * count);
            const auto base = times.draw(count, 10, 0.1), same = times.draw(count, 10, 0.1), more = times.draw(count, 13, 0.1);
            const Difference difference = difference_of(base, more);
            held += difference.low <= 1.3 && 1.3 <= difference.high;
            found += difference.is_certain();
            false_alarms += difference_of(base, same).is_certain();
            const Difference paired = paired_difference_of(base, more);
            paired_known += paired.is_known;
            paired_held += paired.is_known && paired.low <= 1.3 && 1.3 <= paired.high;
        }
        CHECK(held > 0.93 * kRounds);
        CHECK(false_alarms < 0.06 * kRounds);
        CHECK(found > 0.8 * kRounds);
        if (count >= 6)
            CHECK(paired_held > 0.93 * paired_known);
    }
}

TEST_CASE("a difference that is certain is seldom there by chance, and can be asked for being large enough", "[odds]") {
    const std::vector<double> base{1.000, 1.001, 0.999, 1.002, 0.998, 1.000, 1.001, 0.999, 1.000, 1.001};
    const auto times = [&](double factor) {
        std::vector<double> values(base);
        for (double& value : values)
            value *= factor;
        return values;
    };
    const Difference small = paired_difference_of(base, times(1.004)), large = paired_difference_of(base, times(1.02));
    CHECK(small.is_certain());
    CHECK_FALSE(small.is_certain(0.005));
    CHECK(large.is_certain(0.005));
    CHECK(paired_difference_of(base, times(0.98)).is_certain(0.005));
    CHECK_FALSE(paired_difference_of(base, times(0.996)).is_certain(0.005));
    CHECK(small.certain_low <= small.low);
    CHECK(small.certain_high >= small.high);
    constexpr int kSets = 4000;
    int false_alarms = 0, beyond_interval = 0;
    for (int set = 0; set < kSets; set++) {
        RunTimes draws(static_cast<uint64_t>(set) + 77);
        const auto one = draws.draw(10, 10, 0.1), other = draws.draw(10, 10, 0.1);
        const Difference difference = paired_difference_of(one, other);
        false_alarms += difference.is_certain();
        beyond_interval += difference.low > 1 || difference.high < 1;
    }
    CHECK(false_alarms < 0.013 * kSets);
    CHECK(beyond_interval > 0.03 * kSets);
}

TEST_CASE("three per cent in ten pairs are found where runs scatter by one, and hardly ever nothing is", "[odds]") {
    constexpr int kSets = 2000;
    int found = 0, false_alarms = 0, found_by_99 = 0;
    for (int set = 0; set < kSets; set++) {
        RunTimes draws(static_cast<uint64_t>(set) + 5077);
        const auto base = draws.draw(10, 10, 0.0085), same = draws.draw(10, 10, 0.0085), slower = draws.draw(10, 10.3, 0.0085);
        const Difference difference = paired_difference_of(base, slower);
        found += difference.is_certain(0.005);
        found_by_99 += difference.certain_low > 1.005;
        false_alarms += paired_difference_of(base, same).is_certain(0.005);
    }
    CHECK(found > 0.97 * kSets);
    CHECK(false_alarms < 0.003 * kSets);
    CHECK(found_by_99 < found); // is why both intervals are asked
}
