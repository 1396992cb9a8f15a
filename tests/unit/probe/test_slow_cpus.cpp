// CPUs that are slow are found with their cause, and alike CPUs are not called slow.
#include "probe/judge/against.h"
#include "probe/judge/slow_cpus.h"
#include "probe/measure/plan.h"
#include "support/xorshift.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb::probe;

namespace {

class Noise {
  public:
    explicit Noise(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {
        for (int i = 0; i < 20; ++i)
            random_.next();
    }
    double uniform() { return static_cast<double>(random_.next() >> 11) / static_cast<double>(1ull << 53); }
    // Most turns are within some percent; one of ten loses its CPU for a while: tails as on a busy virtual machine.
    double excess() { return 1 + 0.03 * uniform() + (uniform() < 0.1 ? uniform() * 2 : 0); }

  private:
    plumb::Xorshift random_;
};

Turn turn_with(double one_ns, double wall_by_cpu, double noise) {
    const double operations = 1e6;
    return {operations, operations * one_ns * noise * wall_by_cpu, operations * one_ns, one_ns};
}

// `slow`: factor in CPU time, `waits`: wall by CPU time; of CPU 1.
std::vector<CpuTurns> machine(int cpus, size_t rounds, double slow, double waits, uint64_t seed = 1) {
    Noise noise(seed);
    std::vector<CpuTurns> all;
    for (int cpu = 0; cpu < cpus; ++cpu) {
        all.push_back({cpu, {}});
        for (auto& turns : all.back().turns)
            for (size_t round = 0; round < rounds; ++round)
                turns.push_back(turn_with(cpu == 1 ? slow : 1, cpu == 1 ? waits : 1, noise.excess()));
    }
    return all;
}

} // namespace

TEST_CASE("a CPU on which another program spins is slow because of others") {
    const auto slow = slow_cpus(machine(4, 10, 1, 2), 0.1);
    REQUIRE(slow.size() >= kCpuTests - 1); // the clock's fastest part is not slower
    for (const SlowCpu& one : slow) {
        CHECK(one.cpu == 1);
        CHECK(one.cause == SlowCpu::Cause::others);
        CHECK(one.slowdown == Approx(2).epsilon(0.15));
        CHECK(one.low > 1.1);
        CHECK(one.share < 0.6);
    }
}

TEST_CASE("a CPU that is slow in CPU time, too, is slow itself") {
    const auto slow = slow_cpus(machine(4, 10, 1.4, 1), 0.1);
    REQUIRE(slow.size() == kCpuTests);
    CHECK(std::ranges::all_of(slow, [](const SlowCpu& one) { return one.cpu == 1 && one.cause == SlowCpu::Cause::itself; }));
    CHECK(slow_cpus(machine(4, 10, 1.4, 1.5), 0.1).front().cause == SlowCpu::Cause::both);
    CHECK(slow_cpus(machine(4, 10, 1.05, 1), 0.1).empty()); // less than the limit
    CHECK(slow_cpus(machine(2, 12, 1.4, 1), 0.1).front().cpu == 1);
}

TEST_CASE("one test that had bad luck beside an uneven load is no slow CPU") {
    std::vector<CpuTurns> cpus = machine(2, 30, 1, 1);
    for (Turn& turn : cpus[1].turns[static_cast<size_t>(CpuTest::compute)])
        turn.wall_ns *= 1.5;
    for (Turn& turn : cpus[0].turns[static_cast<size_t>(CpuTest::cache)])
        turn.wall_ns *= 1.5;
    CHECK(slow_cpus(cpus, 0.1).empty());
}

TEST_CASE("too few rounds, or one CPU alone, have no verdict") {
    CHECK(slow_cpus(machine(4, 4, 3, 1), 0.1).empty());
    CHECK(slow_cpus(machine(1, 20, 1, 1), 0.1).empty());
    CHECK(slow_cpus({}, 0.1).empty());
}

TEST_CASE("a machine of alike CPUs is called sick in one probe of a hundred at most", "[odds]") {
    const auto [cpus, rounds] = GENERATE(std::pair{2, 8}, std::pair{2, 40}, std::pair{16, 12});
    int sick = 0, sick_without_limit = 0;
    const int probes = 300;
    for (int seed = 1; seed <= probes; ++seed) {
        const auto measured = machine(cpus, static_cast<size_t>(rounds), 1, 1, static_cast<uint64_t>(seed));
        sick += !slow_cpus(measured, 0.1).empty();
        sick_without_limit += !slow_cpus(measured, 0).empty();
    }
    INFO(cpus << " CPUs, " << rounds << " rounds");
    CHECK(sick <= probes / 100);
    CHECK(sick_without_limit <= probes / 20 + 12); // its 5 % and three standard deviations
}

TEST_CASE("so many rounds are planned that verdicts are possible", "[odds]") {
    for (const size_t cpus : {2u, 16u, 256u}) {
        const size_t rounds = rounds_needed(cpus * kCpuTests);
        CHECK(slow_cpus(machine(static_cast<int>(cpus), rounds, 4, 1), 0.1).size() == kCpuTests);
    }
    CHECK(turn_length_ns(60, 20, 8) == kTurn_ns);
    CHECK(turn_length_ns(5, 50, 10) == 10'000'000);
    CHECK(turn_length_ns(1, 1000, 10) == kShortestTurn_ns);
}

TEST_CASE("CPUs of different caches are measured at the same time, pairs of each kind in turn") {
    std::vector<plumb::platform::CpuPath> paths; // two caches of two cores of two hardware threads
    for (int cpu = 0; cpu < 8; ++cpu)
        paths.push_back({cpu, cpu / 2 * 2, cpu / 4 * 4, cpu / 4, 1 << 20});
    CHECK(waves_of(paths) == std::vector<std::vector<size_t>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    CHECK(pairs_of(paths, 100).pairs.size() == 28);
    const PairPlan some = pairs_of(paths, 6);
    CHECK(some.left_out == 22);
    using Pair = std::pair<size_t, size_t>;
    CHECK(some.pairs == std::vector<Pair>{{0, 1}, {1, 2}, {3, 4}, {2, 3}, {5, 6}, {2, 4}});
}

TEST_CASE("against an earlier probe, a figure is slower where the intervals are further apart than the limit") {
    const auto figure = [](const char* test, Unit unit, double median, double half) {
        plumb::statistics::Spread spread;
        spread.median = median;
        spread.low = median - half;
        spread.high = median + half;
        spread.is_known = true;
        return Figure{test, "CPU 0", unit, spread};
    };
    EarlierProbe before, now;
    before.kernel = "Linux 6.1", now.kernel = "Linux 6.12";
    before.figures = {figure("a", Unit::seconds, 100, 2),     figure("b", Unit::bytes_per_s, 100, 2),
                      figure("c", Unit::seconds, 100, 30),    figure("d", Unit::seconds, 100, 1),
                      figure("f", Unit::seconds, 100, 6),     figure("g", Unit::bytes_per_s, 100, 2),
                      figure("e", Unit::bytes_per_s, 100, 2), figure("gone", Unit::seconds, 1, 0)};
    now.figures = {figure("a", Unit::seconds, 120, 2),     figure("b", Unit::bytes_per_s, 80, 2),
                   figure("c", Unit::seconds, 120, 30),    figure("d", Unit::seconds, 105, 1),
                   figure("f", Unit::seconds, 115, 2),     figure("g", Unit::bytes_per_s, 88, 4),
                   figure("e", Unit::bytes_per_s, 125, 2), figure("new", Unit::seconds, 1, 0)};
    const Against against = compare_with(before, now, 0.1);
    std::string slower, faster;
    for (const Change& change : against.changes) {
        slower += change.is_slower ? change.now.test : "";
        faster += change.is_faster ? change.now.test : "";
    }
    CHECK(slower == "ba"); // 1.25 and 1.2
    CHECK(faster == "e");
    CHECK(against.changes.size() == 7);
    CHECK(against.is_slower());
    CHECK_FALSE(compare_with(before, now, 0.3).is_slower());
    CHECK(against.machine == std::vector<std::string>{"kernel: Linux 6.1 before, Linux 6.12 now"});
}
