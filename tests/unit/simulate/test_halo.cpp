#include "simulate/noise_machines.h"
#include "simulate/rank_grid.h"
#include "simulate/simulate_job.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace plumb;
using namespace plumb::simulate;

namespace {

std::vector<uint32_t> neighbours_of(const RankGrid& grid, uint32_t rank) {
    std::vector<uint32_t> result;
    grid.for_each_neighbour(rank, [&](uint32_t neighbour) { result.push_back(neighbour); });
    std::ranges::sort(result);
    return result;
}

// Excess of a job with one event on one rank in all.
double excess_of_one_event(Collective collective, uint32_t cycles) {
    auto one = noise_class("once", 1000, 0.01);
    one.nodes = {0, {5}};
    one.cpus = {0};
    auto job = job_of(64, 1, 0.1, cycles);
    job.collective = collective;
    job.cycle_work_s = {1};
    const auto outcome = simulate_job(job, {"", 0, 0, {one}}, 1);
    return outcome.total_s - outcome.quiet_s;
}

} // namespace

TEST_CASE("ranks lie on a grid as near to a cube as can be, and each has its neighbours around") {
    using Lengths = std::array<uint32_t, 3>;
    CHECK(RankGrid(64, 3).lengths() == Lengths{4, 4, 4});
    CHECK(RankGrid(64, 2).lengths() == Lengths{8, 8, 1});
    CHECK(RankGrid(12, 2).lengths() == Lengths{3, 4, 1});
    CHECK(RankGrid(7, 3).lengths() == Lengths{7, 1, 1});
    CHECK(neighbours_of(RankGrid(64, 1), 0) == std::vector<uint32_t>{1, 63});
    CHECK(neighbours_of(RankGrid(64, 2), 9) == std::vector<uint32_t>{1, 8, 10, 17});
    CHECK(neighbours_of(RankGrid(64, 3), 0) == std::vector<uint32_t>{1, 3, 4, 12, 16, 48});
    CHECK(neighbours_of(RankGrid(1, 3), 0).empty());
    for (const uint32_t ranks : {30u, 64u, 97u, 1000u}) { // whose neighbour one is is one's neighbour
        const RankGrid grid(ranks, 3);
        for (uint32_t rank = 0; rank < ranks; rank++)
            for (const uint32_t neighbour : neighbours_of(grid, rank)) {
                const auto back = neighbours_of(grid, neighbour);
                REQUIRE(std::ranges::count(back, rank) > 0);
            }
    }
}

TEST_CASE("one delay reaches all ranks in the end, as with a barrier") {
    for (const Collective collective : {Collective::barrier, Collective::halo1, Collective::halo3})
        CHECK(excess_of_one_event(collective, 1100) == Approx(0.01));
}

TEST_CASE("delays of far ranks at the same time count once where ranks wait for neighbours alone, too") {
    auto one = noise_class("x", 0.1, 0.001);
    one.scope = model::NoiseClass::Scope::cpu;
    one.phase = model::NoiseClass::Phase::together;
    auto job = job_of(64, 4, 0.01, 1000);
    const auto total = [&](Collective collective) {
        job.collective = collective;
        return simulate_job(job, {"", 0, 0, {one}}, 1).total_s;
    };
    CHECK(total(Collective::halo2) == Approx(total(Collective::barrier)).epsilon(0.001));
    one.phase = model::NoiseClass::Phase::independent;
    // With few neighbours a delay meets others on its way; a barrier adds up those of each cycle.
    CHECK(total(Collective::halo1) < total(Collective::barrier));
    CHECK(total(Collective::halo3) < total(Collective::barrier));
    CHECK(total(Collective::halo1) < total(Collective::halo3));
}

TEST_CASE("other work of ranks is no noise") {
    auto job = job_of(27, 1, 0.01, 100);
    job.collective = Collective::halo3;
    job.work_factor = spread_factors(27, 0.2, 1);
    const auto outcome = simulate_job(job, {}, 1);
    CHECK(outcome.total_s == Approx(outcome.quiet_s));
    CHECK(outcome.cycle_s() > 0.011);
}
