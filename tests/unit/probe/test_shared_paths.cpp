// Pairs of hyperthreads, shared caches and shared paths to memory, recognised from simulated tables.
#include "probe/judge/shared_paths.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace plumb::probe;

namespace {

constexpr size_t kRounds = 12;

// All pairs of `count` CPUs; `describe` sets what would be measured without noise, `noise` 0.1: each value up to 10 % more or
// less.
struct Truth {
    double handover_ns = 100, compute_slowdown = 1, read_slowdown = 1;
};

std::vector<PairFigures> table(int count, double noise, const std::function<Truth(int, int)>& describe) {
    plumb::Xorshift random;
    const auto scatter = [&](double value) {
        return value * (1 + noise * (2 * static_cast<double>(random.next() >> 11) / static_cast<double>(1ull << 53) - 1));
    };
    std::vector<PairFigures> pairs;
    for (int first = 0; first < count; ++first)
        for (int second = first + 1; second < count; ++second) {
            const Truth truth = describe(first, second);
            PairTurns turns{first, second, {}, {}, {}};
            for (size_t round = 0; round < kRounds; ++round) {
                turns.handover_ns.push_back(scatter(truth.handover_ns));
                turns.compute_slowdown.push_back(scatter(truth.compute_slowdown));
                turns.read_slowdown.push_back(scatter(truth.read_slowdown));
            }
            pairs.push_back(figures_of(turns));
        }
    return pairs;
}

using Groups = std::vector<CpuGroup>;

} // namespace

TEST_CASE("hyperthreads are those that slow each other down when both calculate") {
    const auto pairs = table(8, 0.1, [](int first, int second) { // CPU i and i + 4 are one core, as Linux numbers them
        return second == first + 4 ? Truth{12, 2, 1.9} : Truth{45, 1, 1.05};
    });
    const SharedPaths shared = shared_paths(pairs);
    CHECK(shared.cores == Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    REQUIRE(shared.caches.size() == 1);
    CHECK(shared.caches[0].groups == shared.cores);
    CHECK(shared.memory_paths == shared.cores);
}

TEST_CASE("caches are found by the time of handing over lines, level by level") {
    const auto pairs = table(16, 0.12, [](int first, int second) { // four caches of four CPUs, two packages of two caches
        return first / 4 == second / 4 ? Truth{25, 1, 1} : first / 8 == second / 8 ? Truth{90, 1, 1} : Truth{210, 1, 1};
    });
    const SharedPaths shared = shared_paths(pairs);
    CHECK(shared.cores.empty());
    REQUIRE(shared.caches.size() == 2);
    CHECK(shared.caches[0].groups == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});
    CHECK(shared.caches[1].groups == Groups{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}});
}

TEST_CASE("a path to memory that two of four CPUs share") { // 0+1 and 2+3: 24 s, 0+2: 12 s
    const auto pairs = table(4, 0.1, [](int first, int second) { return Truth{100, 1, first / 2 == second / 2 ? 2.0 : 1.0}; });
    const SharedPaths shared = shared_paths(pairs);
    CHECK(shared.memory_paths == Groups{{0, 1}, {2, 3}});
    CHECK(shared.cores.empty());
    CHECK(shared.caches.empty());
}

TEST_CASE("a machine of equals under noise shares nothing") {
    const SharedPaths shared = shared_paths(table(8, 0.25, [](int, int) { return Truth{60, 1, 1.05}; }));
    CHECK(shared.cores.empty());
    CHECK(shared.caches.empty());
    CHECK(shared.memory_paths.empty());
}

TEST_CASE("what is no group is not called one: a chain, and one pair with too few rounds") {
    auto pairs = table(6, 0.05, [](int first, int second) { return Truth{60, second == first + 1 ? 2.0 : 1.0, 1}; });
    CHECK(shared_paths(pairs).cores.empty());
    PairTurns few{0, 1, {50, 51}, {2, 2}, {2, 2}};
    const SharedPaths shared = shared_paths({figures_of(few)});
    CHECK(shared.cores.empty());
    CHECK((shared.computing == 0 && shared.handovers == 0 && shared.reading == 0));
}

TEST_CASE("where the kernel describes another machine") {
    const auto pairs = table(4, 0.1, [](int first, int second) {
        return first / 2 == second / 2 ? Truth{12, 2, 1.9} : Truth{90, 1, 1};
    });
    std::vector<plumb::platform::CpuPath> honest, flat;
    for (int cpu = 0; cpu < 4; ++cpu) {
        honest.push_back({cpu, cpu / 2 * 2, cpu / 2 * 2, 0, 1 << 20});
        flat.push_back({cpu, cpu, 0, 0, 32 << 20}); // as a hypervisor says: cores of their own, one cache
    }
    const SharedPaths shared = shared_paths(pairs);
    CHECK(disagreements(shared, pairs, honest).empty());
    size_t cores = 0, caches = 0;
    for (const Disagreement& one : disagreements(shared, pairs, flat)) {
        const bool is_core = one.what == Disagreement::What::core;
        (is_core ? cores : caches) += 1;
        CHECK(one.kernel_says_shared == !is_core);
    }
    CHECK(cores == 2);
    CHECK(caches == 4);
}
