#include "simulate/every_rank.h"

#include "simulate/cpu_clock.h"
#include "simulate/loss_account.h"
#include "simulate/rank_grid.h"

#include <algorithm>

namespace plumb::simulate {

namespace {

// Follows each rank from cycle to cycle, in order. Most cycles of most ranks meet no noise: so it is known of each rank until
// when none comes.
class RankClocks {
  public:
    explicit RankClocks(const RankNoise& noise) : noise_(noise), job_(noise.job()), clock_(noise), ranks_(job_.ranks) {
        double all_hz = 0;
        for (uint32_t i = 0; i < noise.machine().classes.size(); i++)
            all_hz += noise.is_felt(i) ? noise.events_hz(i) : 0;
        look_ahead_s_ = all_hz > 0 ? job_.ranks / all_hz : 1e6;
    }

    // When the rank has done the work that it starts at start_s, which is not before that of the last call for this rank.
    double finish(uint32_t rank, double start_s, double work_s) {
        RankState& state = ranks_[rank];
        const double undisturbed_s = start_s + work_s;
        if (state.busy_until_s <= start_s && undisturbed_s <= state.quiet_until_s)
            return undisturbed_s;
        const double busy_s = busy_at(rank, start_s);
        const double finish_s = clock_.finish(rank, start_s, work_s, start_s, busy_s);
        find_quiet(state, rank, start_s, std::max(finish_s, start_s + look_ahead_s_));
        return finish_s;
    }

    double busy_at(uint32_t rank, double start_s) {
        RankState& state = ranks_[rank];
        state.busy_until_s = clock_.busy_until(rank, state.known_until_s, start_s, state.busy_until_s);
        state.known_until_s = start_s;
        return state.busy_until_s;
    }

    CpuClock& clock() { return clock_; }

  private:
    struct RankState {
        double busy_until_s = 0, known_until_s = 0; // noise holds the CPU until, by all events before known_until_s
        double quiet_until_s = 0;                   // no event begins from known_until_s on before this
    };

    void find_quiet(RankState& state, uint32_t rank, double from_s, double to_s) {
        events_.clear();
        noise_.gather(rank, from_s, to_s, events_);
        state.quiet_until_s = events_.empty() ? to_s : events_.front().begin_s;
    }

    const RankNoise& noise_;
    const Job& job_;
    CpuClock clock_;
    std::vector<RankState> ranks_;
    std::vector<NoiseEvent> events_;
    double look_ahead_s_;
};

Outcome with_one_last_rank(const RankNoise& noise, double start_s, const OnCycle& on_cycle) {
    const Job& job = noise.job();
    RankClocks clocks(noise);
    LossAccount account(noise);
    const double cost_s = collective_cost_s(job);
    double waited_s = 0;
    for (uint32_t cycle = 0; cycle < job.cycles; cycle++) {
        const double largest_s = job.largest_work_s(cycle);
        double last_s = start_s + largest_s, sum_s = 0;
        uint32_t last_rank = UINT32_MAX;
        for (uint32_t rank = 0; rank < job.ranks; rank++) {
            const double finish_s = clocks.finish(rank, start_s, job.work_s(rank, cycle));
            sum_s += finish_s - start_s;
            if (finish_s > last_s) {
                last_s = finish_s;
                last_rank = rank;
            }
        }
        waited_s += last_s - start_s - sum_s / job.ranks;
        if (on_cycle)
            on_cycle(cycle, start_s, last_s, last_rank);
        if (last_s > start_s + largest_s)
            account.add(last_s - start_s - largest_s, clocks.clock().delays(last_rank, start_s, job.work_s(last_rank, cycle),
                                                                            clocks.busy_at(last_rank, start_s)));
        account.end_cycle(last_s + cost_s - start_s, largest_s + cost_s);
        start_s = last_s + cost_s;
    }
    Outcome result = account.outcome(uint64_t{job.ranks} * job.cycles);
    result.waited_s = waited_s;
    return result;
}

Outcome with_neighbours(const RankNoise& noise, double start_s) {
    const Job& job = noise.job();
    const RankGrid grid(job.ranks, job.collective == Collective::halo1 ? 1 : job.collective == Collective::halo2 ? 2 : 3);
    RankClocks clocks(noise);
    const double cost_s = collective_cost_s(job);
    std::vector<double> starts_s(job.ranks, start_s), finishes_s(job.ranks), quiet_s(job.ranks, 0.0), quiet_finishes_s;
    // A rank goes on when it and its neighbours have come; without noise as well, which differs where ranks have other work.
    const auto exchange = [&](std::vector<double>& next_s, const std::vector<double>& come_s) {
        for (uint32_t rank = 0; rank < job.ranks; rank++) {
            double last_s = come_s[rank];
            grid.for_each_neighbour(rank, [&](uint32_t neighbour) { last_s = std::max(last_s, come_s[neighbour]); });
            next_s[rank] = last_s + cost_s;
        }
    };
    const bool all_alike = job.ranks_are_alike();
    double alike_s = 0;
    if (!all_alike)
        quiet_finishes_s.resize(job.ranks);
    for (uint32_t cycle = 0; cycle < job.cycles; cycle++) {
        for (uint32_t rank = 0; rank < job.ranks; rank++)
            finishes_s[rank] = clocks.finish(rank, starts_s[rank], job.work_s(rank, cycle));
        exchange(starts_s, finishes_s);
        if (all_alike) {
            alike_s += job.work_s(0, cycle) + cost_s;
        } else {
            for (uint32_t rank = 0; rank < job.ranks; rank++)
                quiet_finishes_s[rank] = quiet_s[rank] + job.work_s(rank, cycle);
            exchange(quiet_s, quiet_finishes_s);
        }
    }
    Outcome result;
    result.cycles = job.cycles;
    result.total_s = *std::ranges::max_element(starts_s) - start_s;
    result.quiet_s = all_alike ? alike_s : *std::ranges::max_element(quiet_s);
    result.looked_at = uint64_t{job.ranks} * job.cycles;
    result.events_of_class = expected_events(noise, result.total_s);
    return result;
}

} // namespace

Outcome simulate_every_rank(const RankNoise& noise, double start_s, const OnCycle& on_cycle) {
    return is_halo(noise.job().collective) ? with_neighbours(noise, start_s) : with_one_last_rank(noise, start_s, on_cycle);
}

} // namespace plumb::simulate
