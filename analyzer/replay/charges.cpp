#include "replay/charges.h"

#include "replay/events/rank_time.h"
#include "replay/messages/window_waits.h"

#include "support/error.h"

#include <algorithm>
#include <array>
#include <optional>

namespace plumb::replay {

namespace {

constexpr Nanoseconds kSameMoment = 2'000; // two clock readings of one call

// From when on the call only carried data: nobody had to be waited for any longer.
Nanoseconds waited_until(const Epoch& epoch, const Collective& event) {
    if (epoch.is_neighbour())
        return event.wait;
    if (event.kind & trace::kMpiFromRoot)
        return event.is_root() || epoch.root.row == UINT32_MAX ? event.wait : epoch.root.begin;
    if (event.kind & trace::kMpiToRoot)
        return event.is_root() ? epoch.last.begin : event.wait;
    if (event.kind & trace::kMpiPrefix) {
        if (epoch.last.member < event.membership->member)
            return epoch.last.begin;
        return epoch.second.member < event.membership->member ? epoch.second.begin : event.wait;
    }
    return epoch.kind & trace::kMpiSynchronising ? epoch.last.begin : event.wait;
}

class RankReader {
  public:
    RankReader(const ChargeInput& input, uint32_t row, RankCharge& own, JobCharge& all)
        : input_(input), row_(row), own_(own), all_(all),
          process_(input.run.processes[input.job.ranks[row].process]),
          meetings_({input.run, input.job, input.epochs, input.cycles, input.messages, input.responsible}, row, all.meetings) {
        own_.sites.resize(process_.mpi->sites.size());
    }

    void operator()(const Collective& event) {
        const Epoch* epoch = input_.epochs.find(event.membership->comm, event.sequence, hint_);
        if (!epoch || !epoch->complete)
            return;
        if (!follows(event))
            inherited_ = {};
        const Nanoseconds wait = std::clamp(waited_until(*epoch, event) - event.wait, Nanoseconds{0}, event.end - event.wait);
        charge(*epoch, event, wait);
        look_at_turns(*epoch, event, wait);
        const Arrival awaited = epoch->awaited();
        const uint32_t responsible = input_.responsible[static_cast<size_t>(epoch - input_.epochs.epochs().data())];
        if (awaited.row == row_)
            explain(*epoch, event);
        else if (responsible == row_)
            explain_root(*epoch, event);
        look_at_cure(*epoch, event, responsible);
        meetings_.take(*epoch, event);
        remember_wait(*epoch, event, wait);
    }

  private:
    // Since all ranks left a collective together: for whom it waited in those after that, when it left the last of them, and
    // how much of its being late is charged already.
    struct Inherited {
        std::optional<Nanoseconds> end;
        Nanoseconds charged = 0;
        std::map<uint32_t, Nanoseconds> waits; // by row
    };

    void charge(const Epoch& epoch, const Collective& event, Nanoseconds wait) {
        const Nanoseconds operation = event.end - event.wait - wait;
        accumulate(own_.wait, wait);
        accumulate(own_.operation, operation);
        accumulate(own_.sites[event.site].wait, wait);
        accumulate(own_.sites[event.site].operation, operation);
        accumulate(all_.comm_wait[epoch.comm], wait);
        accumulate(all_.comm_operation[epoch.comm], operation);
        own_.collectives++;
        own_.extra_compute.add(event.compute() - epoch.others_compute.of(event.compute()));
        if (const uint32_t awaited = epoch.awaited().row; wait > 0 && awaited != UINT32_MAX && awaited != row_)
            accumulate(all_.caused[awaited], wait);
        if (epoch.kind & trace::kMpiSynchronising) {
            all_.compute.add(event.compute());
            accumulate(all_.compute_sum, event.compute());
            all_.compute_least = std::min(all_.compute_least, event.compute());
            all_.compute_most = std::max(all_.compute_most, event.compute());
        }
        const Nanoseconds lateness = event.begin - epoch.median_begin;
        const uint32_t column = input_.shape.column_of(epoch);
        all_.arrivals.add(input_.shape.row_of(row_), column, lateness);
        if (const uint32_t alone = input_.shape.outlier_of(row_); alone != HeatMapShape::kNone)
            all_.arrivals.add(alone, column, lateness);
    }

    // The last one may be so late because it had waited for this rank's message, which is idle now.
    void look_at_turns(const Epoch& epoch, const Collective& event, Nanoseconds wait) {
        const uint32_t awaited = epoch.awaited().row;
        if (wait <= 0 || awaited == row_ || awaited == UINT32_MAX)
            return;
        const std::optional<Turn> turn =
            turn_of(input_.messages, row_, awaited, event.wait, event.wait + wait, input_.least_turn);
        if (!turn || causes_of(input_.messages, *turn->before).is_serial()) // a longer chain has it already
            return;
        own_.turns.count++;
        accumulate(own_.turns.overlap, turn->overlap);
        const SiteOfWait site{awaited, turn->before->wait_site};
        if (own_.turns.by_site.size() < RankCharge::kMostTurnSites || own_.turns.by_site.contains(site))
            accumulate(own_.turns.by_site[site], turn->overlap);
    }

    // The others waited for this rank.
    void explain(const Epoch& epoch, const Collective& event) {
        Nanoseconds lateness = event.begin - epoch.median_begin;
        if (lateness <= 0)
            return;
        own_.times_last++;
        lateness -= inherited_.charged;
        if (lateness <= 0)
            return;
        accumulate(inherited_.charged, lateness);
        const Nanoseconds computing = std::min(extra_of(epoch, event), lateness);
        add_lateness(event, lateness);
        add_computing(event, computing);
        Nanoseconds rest = lateness - computing;
        rest -= passed_on_by_messages(epoch, event, std::min(rest, event.gap_mpi - epoch.median_mpi), lateness);
        pass_on_by_collective(rest);
    }

    // The last one was late because it had waited for this rank; so may have been all others, so that none of them was
    // later than the median.
    void explain_root(const Epoch& epoch, const Collective& event) {
        const Nanoseconds computing = extra_of(epoch, event);
        add_lateness(event, computing);
        add_computing(event, computing);
        own_.times_root += computing > 0;
    }

    static Nanoseconds extra_of(const Epoch& epoch, const Collective& event) {
        return std::max(Nanoseconds{0}, event.compute() - epoch.median_compute);
    }

    void add_lateness(const Collective& event, Nanoseconds lateness) {
        accumulate(own_.lateness, lateness);
        accumulate(own_.sites[event.site].late, lateness);
    }

    void add_computing(const Collective& event, Nanoseconds computing) {
        accumulate(own_.late_computing, computing);
        if (!off_cpu_) {
            off_cpu_.emplace(input_.run, process_, main_mpi_thread(process_));
            own_.delayed_intervals = off_cpu_->delayed_intervals();
        }
        const Nanoseconds left = event.begin - event.gap;
        // Where all ranks wait for CPUs alike, that does not make one of them late.
        const auto usual = static_cast<Nanoseconds>(input_.usual_delay[row_] * static_cast<double>(event.gap));
        const Nanoseconds delay = std::clamp(off_cpu_->delayed(left, event.begin) - usual, Nanoseconds{0}, computing);
        accumulate(own_.late_delayed, delay);
        // Asleep outside MPI for certain: more than all the time in its calls.
        const Nanoseconds asleep = off_cpu_->asleep(left, event.begin) - event.gap_mpi;
        accumulate(own_.late_asleep, std::clamp(asleep, Nanoseconds{0}, computing - delay));
    }

    // What it takes to tell when the epoch would have begun without the responsible rank's extra work.
    void look_at_cure(const Epoch& epoch, const Collective& event, uint32_t responsible) {
        const auto at = static_cast<size_t>(&epoch - input_.epochs.epochs().data());
        if (responsible == row_) {
            all_.responsible_begin[at] = event.begin;
            all_.responsible_extra[at] = extra_of(epoch, event);
        } else {
            look_at_others(at, event, responsible);
        }
        look_at_levels(at, epoch, event);
    }

    void look_at_others(size_t at, const Collective& event, uint32_t responsible) {
        Nanoseconds begin = event.begin;
        for_each_wait_before(input_.messages, row_, event, [&](const PeerWait& wait, Nanoseconds length) {
            if (causes_of(input_.messages, wait).main_row() == responsible)
                begin -= length;
        });
        all_.others_begin[at] = std::max(all_.others_begin[at], begin);
    }

    // The same for ranks that are late together, and for those behind them.
    void look_at_levels(size_t at, const Epoch& epoch, const Collective& event) {
        const LateLevels& levels = input_.levels;
        // Who brings the data is all that counts where it comes from a root.
        if (levels.size() == 0 || ((epoch.kind & trace::kMpiFromRoot) && epoch.awaited().row != row_))
            return;
        const size_t own = levels.level_of(row_);
        std::array<Nanoseconds, LateLevels::kMost> waited = {}; // for ranks of each level
        for_each_wait_before(input_.messages, row_, event, [&](const PeerWait& wait, Nanoseconds length) {
            if (const size_t level = levels.level_of(causes_of(input_.messages, wait).main_row()); level < levels.size())
                accumulate(waited[level], length);
        });
        Nanoseconds begin = event.begin;
        for (size_t level = 0; level < levels.size() && level <= own; ++level) {
            begin -= waited[level];
            LevelCharge& charge = all_.levels[level];
            if (level < own)
                charge.others_begin[at] = std::max(charge.others_begin[at], begin);
            else
                charge.keep_latest(at, {begin, extra_of(epoch, event), row_});
        }
    }

    // What of `most` it waited for messages since its last collective; says who was at work meanwhile.
    Nanoseconds passed_on_by_messages(const Epoch& epoch, const Collective& event, Nanoseconds most, Nanoseconds lateness) {
        if (most <= 0)
            return 0;
        const WindowWaits waits = waits_before(input_.messages, row_, event);
        if (!waits.longest)
            return 0;
        const Nanoseconds passed_on = std::min(most, waits.sum);
        const Causes causes = causes_of(input_.messages, *waits.longest);
        blame(causes.main_row(), passed_on);
        if (causes.is_serial())
            accumulate(all_.chain_wait, static_cast<Nanoseconds>(static_cast<double>(epoch.ahead_of(event.begin)) *
                                                                 seconds(passed_on) / seconds(lateness)));
        return passed_on;
    }

    // It came late out of collectives in which it waited for somebody else while others did not wait.
    void pass_on_by_collective(Nanoseconds most) {
        Nanoseconds sum = 0;
        for (const auto& [row, wait] : inherited_.waits)
            accumulate(sum, wait);
        if (most <= 0 || sum <= 0)
            return;
        const double part = std::min(1.0, static_cast<double>(most) / static_cast<double>(sum));
        for (const auto& [row, wait] : inherited_.waits)
            blame(row, static_cast<Nanoseconds>(part * static_cast<double>(wait)));
    }

    // No collective lies between the last one that was seen and this one.
    bool follows(const Collective& event) const {
        return inherited_.end && std::abs(event.begin - event.gap - *inherited_.end) <= kSameMoment;
    }

    void remember_wait(const Epoch& epoch, const Collective& event, Nanoseconds wait) {
        const bool all_leave_together = (epoch.kind & trace::kMpiSynchronising) != 0 && !epoch.is_neighbour() &&
                                        epoch.arrivals >= static_cast<uint32_t>(std::max(0, input_.job.size));
        if (all_leave_together)
            inherited_ = {};
        const uint32_t awaited = epoch.awaited().row;
        if (!all_leave_together && wait > 0 && awaited != row_ && awaited != UINT32_MAX &&
            (inherited_.waits.size() < RankCharge::kMostDelayers || inherited_.waits.contains(awaited)))
            accumulate(inherited_.waits[awaited], wait);
        inherited_.end = event.end;
    }

    void blame(uint32_t row, Nanoseconds passed_on) {
        accumulate(own_.late_waiting, passed_on);
        if (own_.delayed_by.size() < RankCharge::kMostDelayers || own_.delayed_by.contains(row))
            accumulate(own_.delayed_by[row], passed_on);
    }

    const ChargeInput& input_;
    uint32_t row_;
    RankCharge& own_;
    JobCharge& all_;
    const model::Process& process_;
    std::optional<OffCpu> off_cpu_;
    MeetingReader meetings_;
    Inherited inherited_;
    size_t hint_ = 0;
};

} // namespace

std::vector<double> usual_run_delays(const model::Run& run, const Job& job) {
    std::vector<double> shares;
    for (const Rank& rank : job.ranks) {
        const model::Process& process = run.processes[rank.process];
        const uint32_t thread = main_mpi_thread(process);
        double share = 0;
        if (thread < process.threads.size() && process.end_ns > process.start_ns)
            share = static_cast<double>(process.threads[thread].run_delay_ns) /
                    static_cast<double>(process.end_ns - process.start_ns);
        shares.push_back(std::min(share, 1.0));
    }
    std::vector<double> sorted = shares;
    std::ranges::sort(sorted);
    std::vector<double> usual;
    for (const double share : shares) { // the median without itself
        if (sorted.size() < 2) {
            usual.push_back(0);
            continue;
        }
        const auto own = static_cast<size_t>(std::ranges::lower_bound(sorted, share) - sorted.begin());
        const size_t middle = (sorted.size() - 1) / 2;
        usual.push_back(sorted[middle < own ? middle : middle + 1]);
    }
    return usual;
}

void LevelCharge::keep_latest(size_t epoch, const Late& candidate) {
    Late& kept = late[epoch];
    if (candidate.begin != kept.begin ? candidate.begin > kept.begin : candidate.row < kept.row)
        kept = candidate;
}

void LevelCharge::merge(const LevelCharge& other) {
    for (size_t epoch = 0; epoch < late.size(); ++epoch) {
        others_begin[epoch] = std::max(others_begin[epoch], other.others_begin[epoch]);
        keep_latest(epoch, other.late[epoch]);
    }
}

void JobCharge::merge(const JobCharge& other) {
    for (size_t i = 0; i < caused.size(); ++i)
        accumulate(caused[i], other.caused[i]);
    for (size_t i = 0; i < comm_wait.size(); ++i) {
        accumulate(comm_wait[i], other.comm_wait[i]);
        accumulate(comm_operation[i], other.comm_operation[i]);
    }
    accumulate(chain_wait, other.chain_wait);
    for (size_t i = 0; i < others_begin.size(); ++i) {
        others_begin[i] = std::max(others_begin[i], other.others_begin[i]);
        responsible_begin[i] = std::max(responsible_begin[i], other.responsible_begin[i]);
        responsible_extra[i] = std::max(responsible_extra[i], other.responsible_extra[i]);
    }
    for (size_t level = 0; level < levels.size(); ++level)
        levels[level].merge(other.levels[level]);
    compute.merge(other.compute);
    accumulate(compute_sum, other.compute_sum);
    compute_least = std::min(compute_least, other.compute_least);
    compute_most = std::max(compute_most, other.compute_most);
    arrivals.merge(other.arrivals);
    meetings.insert(meetings.end(), other.meetings.begin(), other.meetings.end());
}

void charge_rank(const ChargeInput& input, uint32_t row, const OpenTrace& open, RankCharge& own, JobCharge& all) {
    RankEvents(input.run, input.job.ranks[row]).visit(open, RankReader(input, row, own, all));
}

} // namespace plumb::replay
