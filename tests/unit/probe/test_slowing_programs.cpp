// Who slows the others, from simulated looks; and how often chance alone names somebody.
#include "probe/judge/slowing_programs.h"
#include "statistics/rank_correlation.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace plumb::probe;

namespace {

class Dice {
  public:
    explicit Dice(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 7) {
        for (int i = 0; i < 20; ++i)
            random_.next();
    }
    double next() { return static_cast<double>(random_.next() >> 11) / static_cast<double>(1ull << 53); }

  private:
    plumb::Xorshift random_;
};

// `effect` 0.5: where stride2048 keeps a CPU busy, memory takes half as long again. `persistence`: how much of a program's CPU
// time stays from one look to the next, and of the machine's own slowness.
std::vector<Look> looks_of(size_t count, double effect, double persistence, uint64_t seed) {
    Dice dice(seed);
    std::vector<Look> looks;
    std::map<std::string, double> state;
    const auto changes = [&](const std::string& name) {
        double& value = state[name];
        return value = persistence * value + (1 - persistence) * dice.next();
    };
    for (size_t i = 0; i < count; ++i) {
        Look look;
        for (const char* name : {"stride2048", "solver", "make", "cron", "postgres"})
            look.programs[name] = changes(name);
        look.groups["/user.slice"] = look.programs["stride2048"] + look.programs["make"];
        for (const char* kind : {"compute", "cache", "memory latency", "memory read", "wait for a CPU"})
            look.slowness[kind] = 10 * (1 + 0.1 * changes(kind));
        look.slowness["memory latency"] *= 1 + effect * look.programs["stride2048"];
        looks.push_back(std::move(look));
    }
    return looks;
}

size_t named(const Suspects& found) {
    size_t count = 0;
    for (const Suspect& suspect : found.suspects)
        count += suspect.verdict == Suspect::Verdict::slows;
    return count;
}

} // namespace

TEST_CASE("ranks correlate whatever the form") {
    using namespace plumb::statistics;
    const std::vector<double> one{1, 2, 3, 4, 5}, squares{1, 4, 9, 16, 25}, down{5, 4, 3, 2, 1}, same{7, 7, 7, 7, 7};
    CHECK(rank_correlation(one, squares) == Approx(1));
    CHECK(rank_correlation(one, down) == Approx(-1));
    CHECK(rank_correlation(one, same) == 0);
    CHECK(rank_correlation({}, {}) == 0);
    CHECK(ranks_of(std::vector<double>{3, 1, 3, 0}) == std::vector<double>{3.5, 2, 3.5, 1});
    // 1 - 6 * (4 + 1 + 1 + 4 + 0) / (5 * 24)
    CHECK(rank_correlation(one, std::vector<double>{3, 1, 2, 6, 5}) == Approx(0.6));
    CHECK(chance_of(0.6, 10) == Approx(0.0334).epsilon(0.01)); // of tables: 0.067 two-sided
    CHECK(chance_of(0.9, 3) == 1);
    CHECK(chance_of(0, 10) == Approx(0.5));
    std::vector<double> slow_one, slow_other;
    for (int i = 0; i < 40; ++i) {
        slow_one.push_back(std::sin(i * 0.1));
        slow_other.push_back(std::cos(i * 0.13));
    }
    CHECK(independent_pairs(slow_one, slow_other) < 5);
    CHECK(independent_pairs(one, one) <= 5);
}

TEST_CASE("who walks with a stride is found by the time of memory accesses") {
    int found = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const Suspects suspects = slowing_programs(looks_of(30, 0.5, 0, seed));
        const Suspect& first = suspects.suspects.front();
        found += first.name == "stride2048" && first.verdict == Suspect::Verdict::slows && first.kind == "memory latency";
    }
    CHECK(found >= 18);
}

TEST_CASE("without an effect nobody is named, in nineteen series of twenty") {
    const double persistence = GENERATE(0.0, 0.8);
    int named_in = 0;
    const int series = 300;
    for (uint64_t seed = 1; seed <= series; ++seed)
        named_in += named(slowing_programs(looks_of(30, 0, persistence, seed))) > 0;
    INFO("persistence " << persistence);
    CHECK(named_in <= series / 20 + 12); // three standard deviations
}

TEST_CASE("few looks, and idle programs, have no verdict") {
    CHECK(named(slowing_programs(looks_of(5, 5, 0, 1))) == 0);
    CHECK(slowing_programs({}).suspects.empty());
    auto looks = looks_of(30, 0.5, 0, 1);
    for (Look& look : looks)
        look.programs["sleeper"] = kLeastCpus / 2;
    for (const Suspect& suspect : slowing_programs(looks).suspects)
        CHECK(suspect.name != "sleeper");
}
