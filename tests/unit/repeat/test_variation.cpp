// Sets of made-up runs whose wall time varies for a known reason.
#include "repeat/variation.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

using namespace plumb;
using namespace plumb::repeat;

namespace {

constexpr const char* kCpu = "the CPU of its busiest thread";
constexpr const char* kHuge = "its memory on huge pages";
constexpr size_t kRuns = 20;

class MadeUpSet {
  public:
    explicit MadeUpSet(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}
    double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

    // Of 10 s of computing, with small variations of all parts; `change` makes each run what it is about.
    std::vector<RunFigures> draw(size_t count, const std::function<void(RunFigures&)>& change) {
        std::vector<RunFigures> runs;
        while (runs.size() < count) {
            RunFigures run;
            run.wall_parts = {{"computing", {10 + 0.2 * uniform(), true}},
                              {"runnable, waiting for a CPU", {0.1 + 0.01 * uniform(), false}},
                              {"asleep in MPI", {0.5 + 0.01 * uniform(), false}}};
            run.conditions.kinds = {{kCpu, uniform() < 0.5 ? "CPU 0" : "CPU 1"},
                                    {"where its stack begins within a page", std::to_string(random_.next() % 6)},
                                    {"where its stack begins within a cache line", std::to_string(random_.next() % 4)}};
            run.conditions.amounts = {{kHuge, uniform()}, {"CPU time of other programs", uniform()}, {"CPU time taken by the hypervisor", 0}};
            change(run);
            runs.push_back(std::move(run));
        }
        return runs;
    }

  private:
    Xorshift random_;
};

void add_work(RunFigures& run, double seconds) { run.wall_parts["computing"].seconds += seconds; }

} // namespace

TEST_CASE("the part that varies has the variance, and all shares together are one") {
    MadeUpSet set(3);
    const Variation variation =
        variation_of(set.draw(kRuns, [&](RunFigures& run) { run.wall_parts["runnable, waiting for a CPU"].seconds += 3 * set.uniform(); }));
    REQUIRE(variation.is_known());
    CHECK(variation.parts[0].name == "runnable, waiting for a CPU");
    CHECK(variation.is_cause(variation.parts[0]));
    CHECK(variation.parts[0].share > 0.9);
    CHECK(variation.parts[0].interval.low > 0.8);
    double sum = 0;
    for (const VariedPart& part : variation.parts)
        sum += part.share;
    CHECK(sum == Approx(1));
}

TEST_CASE("of planted conditions the right one has four fifths of the variance, and the others nothing", "[odds]") {
    constexpr int kSets = 60;
    int by_kind = 0, by_amount = 0;
    for (int seed = 0; seed < kSets; ++seed) {
        MadeUpSet set(static_cast<uint64_t>(seed));
        const Variation of_kind =
            variation_of(set.draw(kRuns, [](RunFigures& run) { add_work(run, run.conditions.kinds[kCpu] == "CPU 1" ? 2 : 0); }));
        by_kind += !of_kind.conditions.empty() && of_kind.conditions[0].explanation.condition == kCpu && of_kind.conditions[0].share > 0.8;
        const Variation of_amount =
            variation_of(set.draw(kRuns, [](RunFigures& run) { add_work(run, 3 * (1 - run.conditions.amounts[kHuge])); }));
        by_amount += !of_amount.conditions.empty() && of_amount.conditions[0].explanation.condition == kHuge &&
                     of_amount.conditions[0].share > 0.8;
    }
    CHECK(by_kind >= kSets - 2); // by ranks, of which two kinds leave half of the variance to chance
    CHECK(by_amount >= kSets - 2);
}

TEST_CASE("work that goes with nothing is unexplained", "[odds]") {
    constexpr int kSets = 200;
    int named = 0;
    for (int seed = 0; seed < kSets; ++seed) {
        MadeUpSet set(static_cast<uint64_t>(seed));
        const Variation variation = variation_of(set.draw(kRuns, [&](RunFigures& run) { add_work(run, 3 * set.uniform()); }));
        CHECK(variation.is_notable());
        named += !variation.conditions.empty();
        if (variation.conditions.empty())
            CHECK(variation.unexplained > 0.9);
    }
    CHECK(named <= 6); // 1 % are expected
}

TEST_CASE("two conditions share the variance, and those that cannot be kept apart are both named") {
    MadeUpSet set(11);
    const Variation two = variation_of(set.draw(40, [](RunFigures& run) {
        add_work(run, (run.conditions.kinds[kCpu] == "CPU 1" ? 2 : 0) + 3 * run.conditions.amounts[kHuge]);
    }));
    REQUIRE(two.conditions.size() == 2);
    CHECK(two.conditions[0].share + two.conditions[1].share > 0.85);
    CHECK(std::min(two.conditions[0].share, two.conditions[1].share) > 0.25);
    const Variation one = variation_of(set.draw(kRuns, [](RunFigures& run) {
        const bool is_slow = run.conditions.kinds[kCpu] == "CPU 1";
        run.conditions.kinds["the memory node of that CPU"] = is_slow ? "node 1" : "node 0";
        add_work(run, is_slow ? 2 : 0);
    }));
    REQUIRE(one.conditions.size() == 1);
    CHECK(one.conditions[0].explanation.equally.size() == 1);
}

TEST_CASE("an amount whose values lie in two heaps is shown by these, and another by thirds") {
    MadeUpSet set(13);
    const auto groups = [&](double heap) {
        const Variation variation = variation_of(set.draw(kRuns, [&](RunFigures& run) {
            double& huge = run.conditions.amounts[kHuge];
            huge = huge < 0.4 ? huge * (1 - heap) : huge + heap;
            add_work(run, 3 * huge);
        }));
        return variation.conditions.at(0).explanation.groups;
    };
    CHECK(groups(0).size() == 3);
    const std::vector<ConditionGroup> heaps = groups(1);
    REQUIRE(heaps.size() == 2);
    CHECK(heaps[0].most < 0.4);
    CHECK(heaps[1].least > 1.4);
    CHECK(heaps[0].runs + heaps[1].runs == kRuns);
}

TEST_CASE("a condition that is not known of some runs explains the others, and that it is not known explains nothing") {
    MadeUpSet set(17);
    const Variation variation = variation_of(set.draw(kRuns, [&](RunFigures& run) {
        add_work(run, 3 * (1 - run.conditions.amounts[kHuge]));
        if (set.uniform() < 0.1)
            run.conditions.amounts.erase(kHuge);
    }));
    REQUIRE(variation.conditions.size() == 1);
    CHECK(variation.conditions[0].explanation.condition == kHuge);
    CHECK(variation.conditions[0].share > 0.7);
    for (int seed = 0; seed < 20; ++seed) {
        MadeUpSet other(static_cast<uint64_t>(seed));
        const Variation short_runs = variation_of(other.draw(kRuns, [&](RunFigures& run) {
            if (other.uniform() < 0.15)
                run.conditions.amounts.erase(kHuge); // those that are soon over
            else
                add_work(run, 5);
        }));
        for (const VariedCondition& condition : short_runs.conditions)
            CHECK(condition.explanation.condition != kHuge);
    }
}

TEST_CASE("what grows from run to run, as the work does, is not named for it", "[odds]") {
    constexpr const char* kCache = "file cache at its beginning";
    constexpr int kSets = 40;
    int named = 0, kept_apart = 0, also_at_random = 0;
    for (int seed = 0; seed < kSets; ++seed) {
        MadeUpSet set(static_cast<uint64_t>(seed));
        double run_number = 0;
        const auto is_named = [&](const std::function<void(RunFigures&)>& change) {
            run_number = 0;
            const Variation variation = variation_of(set.draw(kRuns, change));
            return !variation.conditions.empty() && variation.conditions[0].explanation.condition == kCache;
        };
        named += is_named([&](RunFigures& run) {
            run.conditions.amounts[kCache] = run_number + set.uniform();
            add_work(run, 0.1 * run_number++ + set.uniform());
        });
        named += is_named([&](RunFigures& run) { // longer each time
            run.conditions.amounts[kCache] = run_number;
            add_work(run, run_number++);
        });
        kept_apart += is_named([&](RunFigures& run) { // the work jumps with it, in the middle: a straight line does not
            run.conditions.amounts[kCache] = run_number++ < kRuns / 2 ? 1 : 2;
            add_work(run, 3 * run.conditions.amounts[kCache]);
        });
        also_at_random += is_named([&](RunFigures& run) {
            run.conditions.amounts[kCache] = 10 * set.uniform();
            add_work(run, 0.3 * run.conditions.amounts[kCache] + 0.02 * run_number++);
        });
    }
    CHECK(named <= 3); // 1 % of 80 are expected
    CHECK(kept_apart >= 3 * kSets / 4); // by ranks, of which two heaps leave much to chance
    CHECK(also_at_random >= kSets - 2);
}

TEST_CASE("even runs and few runs say nothing") {
    MadeUpSet set(5);
    CHECK_FALSE(variation_of(set.draw(kRuns, [](RunFigures&) {})).is_notable());
    CHECK_FALSE(variation_of(set.draw(5, [&](RunFigures& run) { add_work(run, 5 * set.uniform()); })).is_notable());
    CHECK_FALSE(variation_of({}).is_notable());
}
