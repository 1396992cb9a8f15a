// The fast simulation against one that follows every rank, and both against a third, written here as plainly as can be.
#include "simulate/every_rank.h"
#include "simulate/last_rank.h"
#include "simulate/noise_machines.h"
#include "simulate/rank_noise.h"
#include "simulate/simulate_job.h"
#include "simulate/skipped_classes.h"
#include "support/xorshift.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iomanip>
#include <ostream>
#include <vector>

using namespace plumb;
using namespace plumb::simulate;
using model::NoiseClass;

namespace {

struct CycleEnd {
    double start_s, last_s;
    uint32_t rank;
    bool operator==(const CycleEnd&) const = default;
};

std::ostream& operator<<(std::ostream& out, const CycleEnd& end) {
    return out << std::setprecision(17) << end.start_s << " s to " << end.last_s << " s by rank " << end.rank;
}

std::vector<CycleEnd> cycles_of(const RankNoise& noise, double start_s,
                                Outcome (*simulation)(const RankNoise&, double, const OnCycle&)) {
    std::vector<CycleEnd> cycles;
    simulation(noise, start_s, [&](uint32_t, double begin_s, double last_s, uint32_t rank) {
        cycles.push_back({begin_s, last_s, rank});
    });
    return cycles;
}

// All events of each rank in one list, from time 0 on; each is served once, in order.
std::vector<CycleEnd> plainly(const RankNoise& noise, double start_s, double end_s) {
    const Job& job = noise.job();
    std::vector<std::vector<NoiseEvent>> events(job.ranks);
    for (uint32_t rank = 0; rank < job.ranks; rank++)
        noise.gather(rank, 0, end_s, events[rank]);
    std::vector<size_t> next(job.ranks, 0);
    std::vector<double> free_s(job.ranks, 0.0);
    std::vector<CycleEnd> cycles;
    for (uint32_t cycle = 0; cycle < job.cycles; cycle++) {
        CycleEnd end{start_s, 0, UINT32_MAX};
        double quiet_s = start_s;
        for (uint32_t rank = 0; rank < job.ranks; rank++)
            quiet_s = std::max(quiet_s, start_s + job.work_s(rank, cycle));
        end.last_s = quiet_s;
        for (uint32_t rank = 0; rank < job.ranks; rank++) {
            const auto& mine = events[rank];
            for (; next[rank] < mine.size() && mine[next[rank]].begin_s < start_s; next[rank]++)
                free_s[rank] = std::max(free_s[rank], mine[next[rank]].begin_s) + mine[next[rank]].length_s;
            double finish_s = std::max(start_s, free_s[rank]) + job.work_s(rank, cycle);
            for (size_t i = next[rank]; i < mine.size() && mine[i].begin_s < finish_s; i++)
                finish_s += mine[i].length_s;
            if (finish_s > end.last_s) {
                end.last_s = finish_s;
                end.rank = rank;
            }
        }
        cycles.push_back(end);
        start_s = end.last_s + collective_cost_s(job);
    }
    return cycles;
}

class RandomCase {
  public:
    explicit RandomCase(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {
        for (int i = 0; i < 50; i++)
            random_.next();
        job = job_of(1 + below(90), 1 + below(5), below(4) == 0 ? 0 : fraction() * 0.004, 300);
        job.cpus_per_node += below(3);
        if (below(2))
            job.per_hop_s = fraction() * 1e-4;
        if (below(3) == 0)
            job.cycle_work_s = {fraction() * 0.002, fraction() * 0.01, 0};
        if (below(3) == 0)
            job.work_factor = spread_factors(job.ranks, fraction() * 0.3, seed);
        if (below(4) == 0) {
            job.left_out_every = 3;
            job.left_out_of = {below(3)};
        }
        for (uint32_t i = 1 + below(6); i > 0; i--)
            machine.classes.push_back(some_class(i));
        if (below(3) == 0)
            machine.classes.push_back(recorded_class());
        if (job.work_factor.empty() && below(3) == 0)
            job.pattern = some_pattern();
        if (seed % 5 == 0)
            job.left_out_nodes = {1, 4};
    }

    Job job;
    model::NoiseMachine machine;

  private:
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>((random_.next() >> 32) % limit); }
    double fraction() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

    NoiseClass some_class(uint32_t number) {
        const double period_s = 0.005 * (1 + 200 * fraction() * fraction());
        auto one = noise_class("class " + std::to_string(number), period_s, period_s * 0.12 * fraction() + 1e-6);
        if (below(3) == 0)
            one.regularity = NoiseClass::Regularity::poisson;
        if (below(3) == 0)
            one.jitter = fraction();
        if (below(4) == 0)
            one.phase = NoiseClass::Phase::together;
        if (below(3) == 0)
            one.scope = NoiseClass::Scope::cpu;
        if (below(3) == 0)
            one.cpus = {static_cast<int>(below(job.cpus_per_node))};
        if (below(3) == 0)
            one.nodes = {4, {below(2), 2 + below(2)}};
        const uint32_t shape = below(5);
        one.duration.shape = static_cast<model::NoiseDuration::Shape>(shape);
        one.duration.spread_s = one.duration.mean_s * 0.3;
        if (one.duration.shape == model::NoiseDuration::Shape::measured)
            one.duration.quantiles_s = {0, one.duration.mean_s, 3 * one.duration.mean_s};
        return one;
    }

    NoiseClass recorded_class() {
        model::NoiseLosses losses{.losses = {}, .nodes = 1 + below(4), .cpus_per_node = job.ranks_per_node, .measured_s = 2, .least_s = 0};
        for (uint32_t node = 0; node < losses.nodes; node++)
            for (uint32_t cpu = 0; cpu < losses.cpus_per_node; cpu++)
                for (double begin_s = fraction(); begin_s < 1.9; begin_s += 0.02 + fraction())
                    losses.losses.push_back({node, static_cast<int32_t>(cpu), begin_s, 0.02 * fraction()});
        if (losses.losses.empty())
            losses.losses.push_back({0, 0, 0.5, 0.01});
        auto one = recorded_noise_class("recorded", losses);
        if (below(3) == 0)
            one.phase = NoiseClass::Phase::together;
        return one;
    }

    std::shared_ptr<const WorkPattern> some_pattern() {
        const uint32_t ranks = 1 + below(2 * job.ranks); // the job has a part of them, or some of them several times
        std::vector<double> work_s(ranks * (1 + below(40)));
        for (double& each_s : work_s)
            each_s = fraction();
        return std::make_shared<const WorkPattern>(ranks, work_s);
    }

    Xorshift random_;
};

} // namespace

TEST_CASE("the fast simulation gives each cycle as following every rank does") {
    size_t with_skipped = 0, delayed = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        const RandomCase one(seed);
        const RankNoise noise(one.machine, one.job, seed);
        with_skipped += !choose_skipped(noise).skipped.empty();
        const double start_s = job_start_s(one.machine);
        const auto fast = cycles_of(noise, start_s, simulate_last_rank), every = cycles_of(noise, start_s, simulate_every_rank);
        REQUIRE(fast.size() == 300);
        const auto plain = plainly(noise, start_s, every.back().last_s + 1);
        for (size_t i = 0; i < fast.size(); i++) {
            INFO("case " << seed << ", cycle " << i);
            REQUIRE(fast[i] == every[i]);
            REQUIRE(fast[i] == plain[i]);
            delayed += fast[i].rank != UINT32_MAX;
        }
    }
    CHECK(with_skipped > 50); // else nothing was left out, and nothing was tested
    CHECK(delayed > 10'000);
}

TEST_CASE("both simulations divide the delay over the same classes") {
    for (uint64_t seed = 0; seed < 60; seed++) {
        const RandomCase one(seed);
        const RankNoise noise(one.machine, one.job, seed);
        const auto fast = simulate_last_rank(noise, job_start_s(one.machine));
        const auto every = simulate_every_rank(noise, job_start_s(one.machine));
        CHECK(fast.total_s == every.total_s);
        CHECK(fast.quiet_s == every.quiet_s);
        double sum_s = 0;
        for (size_t i = 0; i < fast.delay_of_class_s.size(); i++) {
            INFO("case " << seed << ", class " << i);
            CHECK(fast.delay_of_class_s[i] == Approx(every.delay_of_class_s[i]).margin(1e-9));
            sum_s += fast.delay_of_class_s[i];
        }
        CHECK(sum_s == Approx(fast.total_s - fast.quiet_s).margin(1e-9));
    }
}

TEST_CASE("most ranks are not followed") {
    const model::NoiseMachine machine{
        "", 0, 0, {noise_class("tick", 0.125, 0.00064), noise_class("beat", 0.6, 0.00035), noise_class("daemon", 30, 0.018)}};
    const Job job = job_of(8192, 4, 0.001, 300);
    const auto outcome = simulate_job(job, machine, 1);
    CHECK(outcome.looked_at < uint64_t{job.ranks} * job.cycles / 20);
}
