// The sequential test keeps its error rates, whatever it looks at and however early it ends. By simulation: pairs of runs whose
// times scatter, until a verdict.
#include "trial/decision.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

using namespace plumb::trial;

namespace {

struct Counts {
    double better = 0, worse = 0, too_small = 0, unlikely = 0, undecided = 0; // fractions of all trials
    double pairs = 0, covered = 0; // mean number; of those with an interval, how often it holds the truth
};

// `time` makes one run's time of a standard of 1.
template <class Time> Counts trials(double gain, const DecisionRules& rules, Time time, size_t trials = 2000) {
    std::mt19937_64 random(7);
    Counts counts;
    size_t known = 0, covered = 0;
    for (size_t trial = 0; trial < trials; ++trial) {
        std::vector<double> base, cured;
        Decision decision;
        while (decision.verdict == Verdict::undecided && base.size() < rules.most_pairs) {
            base.push_back(time(random));
            cured.push_back(time(random) * (1 - gain));
            decision = decide(base, cured, rules);
        }
        const double one = 1.0 / static_cast<double>(trials);
        (decision.verdict == Verdict::better      ? counts.better
         : decision.verdict == Verdict::worse     ? counts.worse
         : decision.verdict == Verdict::too_small ? counts.too_small
         : decision.verdict == Verdict::unlikely  ? counts.unlikely
                                                  : counts.undecided) += one;
        counts.pairs += one * static_cast<double>(base.size());
        if (decision.is_known) {
            known++;
            covered += decision.low <= gain && gain <= decision.high;
        }
    }
    counts.covered = known == 0 ? 1 : static_cast<double>(covered) / static_cast<double>(known);
    return counts;
}

auto normal(double noise) {
    return [noise](std::mt19937_64& random) { return std::exp(std::normal_distribution<double>(0, noise)(random)); };
}

// One run in five is disturbed, by up to a multiple.
auto disturbed(double noise) {
    return [noise](std::mt19937_64& random) {
        const double time = std::exp(std::normal_distribution<double>(0, noise)(random));
        return std::uniform_real_distribution<double>(0, 1)(random) < 0.2
                   ? time + std::exponential_distribution<double>(3)(random)
                   : time;
    };
}

} // namespace

TEST_CASE("a cure that does nothing is hardly ever called better or worse", "[odds]") {
    for (const double noise : {0.002, 0.02, 0.2}) {
        const Counts counts = trials(0, {}, normal(noise));
        INFO("noise " << noise << ": better " << counts.better << ", worse " << counts.worse << ", pairs " << counts.pairs);
        CHECK(counts.better <= 0.03); // 2.5 %, and what 2,000 trials scatter
        CHECK(counts.worse <= 0.03);
        CHECK(counts.covered >= 0.94);
        CHECK(counts.pairs < 15); // most are given up early
    }
    const Counts counts = trials(0, {}, disturbed(0.02));
    INFO("disturbed: better " << counts.better << ", worse " << counts.worse);
    CHECK(counts.better <= 0.03);
    CHECK(counts.worse <= 0.03);
}

TEST_CASE("no look escapes the bound where nothing is given up and every gain is worth it", "[odds]") {
    DecisionRules rules;
    rules.worth = 0;
    rules.least_chance = 0;
    rules.most_pairs = 17;
    const Counts counts = trials(0, rules, normal(0.05), 1000);
    INFO("better " << counts.better << ", worse " << counts.worse);
    CHECK(counts.better <= 0.03);
    CHECK(counts.worse <= 0.03);
    CHECK(counts.better > 0.001); // it is no test that never speaks
}

TEST_CASE("a gain of 5 % is found where runs scatter by 2 %, a large one with the first look", "[odds]") {
    const Counts counts = trials(0.05, {}, normal(0.02), 500);
    INFO("better " << counts.better << ", unlikely " << counts.unlikely << ", pairs " << counts.pairs);
    CHECK(counts.better >= 0.9);
    CHECK(counts.pairs < 12);
    const Counts large = trials(0.3, {}, normal(0.02), 200);
    CHECK(large.better == Approx(1).margin(0.001));
    CHECK(large.pairs == Approx(6).margin(0.01));
    CHECK(trials(0.1, {}, disturbed(0.02), 500).better >= 0.7);
    CHECK(trials(0.3, {}, normal(0.2), 300).better >= 0.8); // a busy machine: not given up too early
}

TEST_CASE("a loss is never taken for a gain, and a large one is seen as such") {
    const Counts counts = trials(-0.05, {}, normal(0.02));
    CHECK(counts.better == 0);
    CHECK(counts.worse + counts.unlikely + counts.too_small >= 0.99);
    DecisionRules patient;
    patient.least_chance = 0;
    CHECK(trials(-0.3, patient, normal(0.02)).worse >= 0.99);
}

TEST_CASE("a gain that is certain and too small is not worth it") {
    DecisionRules patient;
    patient.least_chance = 0;
    const Counts counts = trials(0.005, patient, normal(0.002));
    CHECK(counts.too_small >= 0.99);
    CHECK(counts.better == 0);
}

TEST_CASE("without enough pairs there is an estimate and no verdict") {
    const std::vector<double> base{1, 1, 1}, cured{0.5, 0.5, 0.5};
    const Decision decision = decide(base, cured, {}, true);
    CHECK(decision.verdict == Verdict::undecided);
    CHECK(decision.gain == Approx(0.5));
    CHECK_FALSE(decision.is_known);
    CHECK(decide({}, {}, {}).pairs == 0);
}

TEST_CASE("between two looks nothing but giving up is decided, unless it is the last") {
    std::vector<double> base(7, 1.0), cured(7, 0.7);
    CHECK(decide(base, cured, {}).verdict == Verdict::undecided);
    CHECK(decide(base, cured, {}, true).verdict == Verdict::better);
    base.resize(6), cured.resize(6);
    CHECK(decide(base, cured, {}).verdict == Verdict::better);
    std::vector<double> slow(7, 1.3);
    CHECK(decide(std::vector<double>(7, 1.0), slow, {}).verdict == Verdict::unlikely);
}

TEST_CASE("the chance that one of many useless cures is called better") {
    CHECK(chance_of_false(1, false) == Approx(0.025));
    CHECK(chance_of_false(4, false) == Approx(0.1));
    CHECK(chance_of_false(1000, false) == 1);
    CHECK(chance_of_false(4, true) == Approx(0.0025)); // twice
}
