#include "replay/charges.h"

#include <algorithm>
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
    return event.kind & trace::kMpiSynchronising ? epoch.last.begin : event.wait;
}

class RankReader {
  public:
    RankReader(const ChargeInput& input, uint32_t row, RankCharge& own, JobCharge& all)
        : input_(input), row_(row), own_(own), all_(all),
          process_(input.run.processes[input.job.ranks[row].process]) {
        own_.sites.resize(process_.mpi->sites.size());
    }

    void operator()(const Collective& event) {
        const Epoch* epoch = input_.epochs.find(event.membership->comm, event.sequence, hint_);
        if (!epoch || !epoch->complete)
            return;
        const Nanoseconds wait = std::clamp(waited_until(*epoch, event) - event.wait, Nanoseconds{0}, event.end - event.wait);
        charge(*epoch, event, wait);
        const Arrival awaited = epoch->awaited();
        if (awaited.row == row_)
            explain(*epoch, event);
        previous_ = {event.end, wait, awaited.row};
    }

  private:
    struct Previous {
        Nanoseconds end = INT64_MIN, wait = 0;
        uint32_t awaited = UINT32_MAX;
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
        own_.extra_compute.add(event.compute() - epoch.median_compute);
        if (const uint32_t awaited = epoch.awaited().row; wait > 0 && awaited != UINT32_MAX && awaited != row_)
            accumulate(all_.caused[awaited], wait);
        if (event.kind & trace::kMpiSynchronising) {
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

    // The others waited for this rank.
    void explain(const Epoch& epoch, const Collective& event) {
        const Nanoseconds lateness = event.begin - epoch.median_begin;
        if (lateness <= 0)
            return;
        own_.times_last++;
        const Nanoseconds extra = std::max(Nanoseconds{0}, event.compute() - epoch.median_compute);
        const Nanoseconds computing = std::min(extra, lateness);
        add_gain(epoch, extra);
        accumulate(own_.lateness, lateness);
        accumulate(own_.late_computing, computing);
        if (!run_delay_) {
            run_delay_.emplace(input_.run, process_.threads, main_mpi_thread(process_));
            own_.delayed_intervals = run_delay_->share_of_intervals();
        }
        accumulate(own_.late_delayed, std::min(computing, run_delay_->between(event.begin - event.gap, event.begin)));
        Nanoseconds rest = lateness - computing;
        rest -= passed_on_by_messages(epoch, event, std::min(rest, event.gap_mpi - epoch.median_mpi), lateness);
        pass_on_by_collective(event, rest);
    }

    // Where the job would be, had this rank had no more to do than the others.
    void add_gain(const Epoch& epoch, Nanoseconds extra) {
        const Nanoseconds begin = epoch.awaited().begin;
        const bool from_root = (epoch.kind & trace::kMpiFromRoot) != 0, to_root = (epoch.kind & trace::kMpiToRoot) != 0;
        // Next to be waited for; of a root's data all others at once, so that their median stands for them.
        const Nanoseconds next = from_root ? epoch.median_begin : epoch.second.begin;
        const Nanoseconds sooner = begin - std::max(next, begin - extra);
        const double waiting = to_root ? 1 : from_root ? epoch.arrivals - 1 : epoch.arrivals;
        if (sooner > 0)
            own_.gain += static_cast<double>(sooner) * waiting / std::max(1, input_.job.size);
    }

    // What of `most` it waited for messages since its last collective; says who was at work meanwhile.
    Nanoseconds passed_on_by_messages(const Epoch& epoch, const Collective& event, Nanoseconds most, Nanoseconds lateness) {
        if (most <= 0)
            return 0;
        const LateSender* longest = nullptr;
        Nanoseconds waited = 0, end = event.begin;
        const Nanoseconds begin = event.begin - event.gap;
        while (const LateSender* wait = last_wait(input_.messages, row_, begin, end)) {
            waited += wait->end - std::max(begin, wait->begin);
            if (!longest || wait->length() > longest->length())
                longest = wait;
            end = wait->begin;
        }
        if (!longest)
            return 0;
        const Nanoseconds passed_on = std::min(most, waited);
        const Causes causes = causes_of(input_.messages, *longest);
        blame(causes.main_row(), passed_on);
        if (causes.is_serial())
            accumulate(all_.chain_wait, static_cast<Nanoseconds>(static_cast<double>(epoch.ahead_of(event.begin)) *
                                                                 seconds(passed_on) / seconds(lateness)));
        return passed_on;
    }

    // It came late out of a collective in which it waited for somebody else.
    void pass_on_by_collective(const Collective& event, Nanoseconds most) {
        const Nanoseconds left = event.begin - event.gap;
        if (most <= 0 || previous_.wait <= 0 || previous_.awaited == row_ || previous_.awaited == UINT32_MAX ||
            std::abs(left - previous_.end) > kSameMoment)
            return;
        blame(previous_.awaited, std::min(most, previous_.wait));
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
    std::optional<RunDelay> run_delay_;
    Previous previous_;
    size_t hint_ = 0;
};

} // namespace

uint32_t main_mpi_thread(const model::Process& process) {
    std::vector<uint64_t> time(std::max<size_t>(1, process.threads.size()));
    for (const model::MpiSite& site : process.mpi->sites)
        if (site.thread < time.size())
            time[site.thread] += site.time_ns;
    return static_cast<uint32_t>(std::ranges::max_element(time) - time.begin());
}

void JobCharge::merge(const JobCharge& other) {
    for (size_t i = 0; i < caused.size(); ++i)
        accumulate(caused[i], other.caused[i]);
    for (size_t i = 0; i < comm_wait.size(); ++i) {
        accumulate(comm_wait[i], other.comm_wait[i]);
        accumulate(comm_operation[i], other.comm_operation[i]);
    }
    accumulate(chain_wait, other.chain_wait);
    compute.merge(other.compute);
    accumulate(compute_sum, other.compute_sum);
    compute_least = std::min(compute_least, other.compute_least);
    compute_most = std::max(compute_most, other.compute_most);
    arrivals.merge(other.arrivals);
}

void charge_rank(const ChargeInput& input, uint32_t row, const OpenTrace& open, RankCharge& own, JobCharge& all) {
    RankEvents(input.run, input.job.ranks[row]).visit(open, RankReader(input, row, own, all));
}

} // namespace plumb::replay
