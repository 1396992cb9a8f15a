#include "simulate/last_rank.h"

#include "simulate/cpu_clock.h"
#include "simulate/event_calendar.h"
#include "simulate/loss_account.h"
#include "simulate/skipped_classes.h"

#include <algorithm>

namespace plumb::simulate {

namespace {

class LastRankSimulation {
  public:
    LastRankSimulation(const RankNoise& noise, double start_s)
        : noise_(noise), job_(noise.job()), clock_(noise), skipped_(choose_skipped(noise)), memory_s_(skipped_.memory_s()),
          ranks_(job_.ranks), job_start_s_(start_s) {
        for (const uint32_t i : skipped_.watched)
            watched_.emplace_back(noise, i);
        for (const uint32_t i : skipped_.skipped)
            skippable_.emplace_back(noise, i);
    }

    Outcome run(const OnCycle& on_cycle) {
        LossAccount account(noise_);
        const double cost_s = collective_cost_s(job_);
        look_at_waiting_time(0, job_start_s_);
        remember(job_start_s_);
        start_s_ = job_start_s_;
        for (cycle_ = 0; cycle_ < job_.cycles; cycle_++) {
            const double largest_s = job_.largest_work_s(cycle_);
            find_last(largest_s);
            const double end_s = last_s_ + cost_s;
            if (on_cycle)
                on_cycle(cycle_, start_s_, last_s_, last_rank_);
            if (last_s_ > start_s_ + largest_s)
                account.add(last_s_ - start_s_ - largest_s,
                            clock_.delays(last_rank_, start_s_, job_.work_s(last_rank_, cycle_), busy_at_start(last_rank_)));
            account.end_cycle(end_s - start_s_, largest_s + cost_s);
            look_at_waiting_time(window_end_s_, end_s);
            remember(end_s);
            start_s_ = end_s;
        }
        return account.outcome(followed_);
    }

  private:
    static constexpr uint32_t kNever = UINT32_MAX;

    // Of a rank that no watched event has reached since it was last known, only the skipped classes can hold the CPU.
    // Together, since ranks are met in no order and each costs a miss of the caches.
    struct RankState {
        double busy_until_s = 0, known_until_s = 0; // noise holds the CPU until, by all events before known_until_s
        uint32_t followed_in = kNever;
    };

    double relevant_from(const RankState& state) const { return std::max(state.known_until_s, start_s_ - memory_s_); }

    double busy_at_start(uint32_t rank) {
        return clock_.busy_until(rank, relevant_from(ranks_[rank]), start_s_, ranks_[rank].busy_until_s);
    }

    void follow(uint32_t rank) {
        RankState& state = ranks_[rank];
        if (state.followed_in == cycle_)
            return;
        state.followed_in = cycle_;
        followed_++;
        const double finish_s =
            clock_.finish(rank, start_s_, job_.work_s(rank, cycle_), relevant_from(state), state.busy_until_s);
        if (finish_s > last_s_ || (finish_s == last_s_ && last_rank_ != kNever && rank < last_rank_)) {
            last_s_ = finish_s;
            last_rank_ = rank;
        }
    }

    void find_last(double largest_s) {
        last_s_ = start_s_ + largest_s; // of a rank with the most work: noise only adds to it
        last_rank_ = kNever;
        // A rank that the skipped classes delay may meet a watched event in that delay.
        window_end_s_ = start_s_ + largest_s + skipped_.most_delay_s(0, largest_s);
        for (const uint32_t rank : busy_)
            follow(rank);
        for (EventCalendar& calendar : watched_)
            calendar.for_each(start_s_, window_end_s_, [&](uint32_t rank) {
                reached_.push_back(rank);
                follow(rank);
            });
        reached_.insert(reached_.end(), busy_.begin(), busy_.end());
        for (size_t i = 0; i < skippable_.size(); i++) {
            if (start_s_ + largest_s + skipped_.most_delay_s(i, largest_s) < last_s_)
                break;
            const double until_s = start_s_ + largest_s + skipped_.most_delay_s(i + 1, largest_s);
            skippable_[i].for_each(start_s_ - skipped_.longest_busy_s(i), until_s, [&](uint32_t rank) { follow(rank); });
        }
    }

    void look_at_waiting_time(double from_s, double to_s) {
        for (EventCalendar& calendar : watched_)
            calendar.for_each(from_s, to_s, [&](uint32_t rank) { reached_.push_back(rank); });
    }

    // The state of the ranks that watched events reached before to_s, the start of the next cycle.
    void remember(double to_s) {
        busy_.clear();
        for (const uint32_t rank : reached_) {
            RankState& state = ranks_[rank];
            if (state.known_until_s == to_s)
                continue;
            state.busy_until_s = clock_.busy_until(rank, relevant_from(state), to_s, state.busy_until_s);
            state.known_until_s = to_s;
            if (state.busy_until_s > to_s)
                busy_.push_back(rank);
        }
        reached_.clear();
    }

    const RankNoise& noise_;
    const Job& job_;
    CpuClock clock_;
    SkippedClasses skipped_;
    double memory_s_;
    std::vector<EventCalendar> watched_, skippable_;
    std::vector<RankState> ranks_;
    std::vector<uint32_t> busy_,
        reached_; // CPUs that noise holds at the start; ranks that a watched event reached in this cycle
    double job_start_s_, start_s_ = 0, last_s_ = 0, window_end_s_ = 0;
    uint32_t cycle_ = kNever - 1, last_rank_ = kNever;
    uint64_t followed_ = 0;
};

} // namespace

Outcome simulate_last_rank(const RankNoise& noise, double start_s, const OnCycle& on_cycle) {
    return LastRankSimulation(noise, start_s).run(on_cycle);
}

} // namespace plumb::simulate
