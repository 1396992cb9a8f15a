// Sets of made-up runs whose wall time varies for a known reason.
#include "repeat/variation.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::repeat;

namespace {

class MadeUpSet {
  public:
    explicit MadeUpSet(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}
    double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

    // Of 10 s of computing, with small variations of all parts; `waits_s` and `slower_s` come on top in each run at random.
    std::vector<RunFigures> draw(size_t count, double waits_s, double slower_s, bool has_companion = false) {
        std::vector<RunFigures> runs;
        while (runs.size() < count) {
            const double slow = uniform() < 0.5 ? 1 : 0;
            RunFigures run;
            run.wall_parts_s = {{"computing", 10 + 0.02 * uniform() + slower_s * slow},
                                {"runnable, waiting for a CPU", 0.1 + 0.01 * uniform() + waits_s * uniform()},
                                {"asleep in MPI", 0.5 + 0.01 * uniform()}};
            run.metrics = {{"huge pages", has_companion ? 0.9 - 0.8 * slow + 0.01 * uniform() : uniform()},
                           {"heap peak", 1e6 * (1 + uniform())},
                           {"wall time", run.wall_parts_s["computing"]}};
            run.units = {{"huge pages", "fraction"}, {"heap peak", "bytes"}, {"wall time", "seconds"}};
            runs.push_back(std::move(run));
        }
        return runs;
    }

  private:
    Xorshift random_;
};

} // namespace

TEST_CASE("the part that varies has the variance, and all shares together are one") {
    MadeUpSet set(3);
    const Variation variation = variation_of(set.draw(20, 2, 0));
    REQUIRE(variation.is_known());
    CHECK(variation.parts[0].name == "runnable, waiting for a CPU");
    CHECK(variation.parts[0].share > 0.95);
    CHECK(variation.parts[0].low > 0.9);
    double sum = 0;
    for (const VariedPart& part : variation.parts)
        sum += part.share;
    CHECK(sum == Approx(1));
}

TEST_CASE("what goes with the part is named, and nothing where nothing does") {
    int named = 0, wrong = 0;
    constexpr int kSets = 200;
    for (int seed = 0; seed < kSets; ++seed) {
        MadeUpSet set(static_cast<uint64_t>(seed));
        const Variation with = variation_of(set.draw(20, 0, 3, true));
        REQUIRE(with.is_known());
        CHECK(with.parts[0].name == "computing");
        named += with.companion && with.companion->metric == "huge pages" && with.companion->correlation < 0;
        const Variation without = variation_of(set.draw(20, 0, 3, false));
        wrong += without.companion.has_value();
    }
    CHECK(named > 0.95 * kSets);
    CHECK(wrong < 0.03 * kSets);
}

TEST_CASE("even runs and few runs say nothing") {
    MadeUpSet set(5);
    CHECK_FALSE(variation_of(set.draw(20, 0, 0)).is_known());
    CHECK_FALSE(variation_of(set.draw(5, 5, 0)).is_known());
    CHECK_FALSE(variation_of({}).is_known());
}
