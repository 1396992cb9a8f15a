#include "replay/replay.h"

#include "replay/call_sites.h"
#include "replay/charges.h"
#include "replay/cycles.h"
#include "replay/gains.h"
#include "replay/events/host_clocks.h"
#include "replay/collectives/late_levels.h"
#include "replay/messages/matrix.h"
#include "replay/pending/pending.h"
#include "replay/noise/lost_time.h"
#include "replay/noise/steps.h"
#include "replay/rank_rows.h"
#include "replay/events/rank_work.h"
#include "replay/messages/transfer_fit.h"
#include "replay/messages/turns.h"
#include "replay/turns_before_collectives.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>

namespace plumb::replay {

namespace {

using Problems = std::map<uint32_t, std::string>; // by row

template <class ByRow> bool rows_of(const ByRow& map, const Job& job) {
    return map.empty() || map.rbegin()->first < job.ranks.size();
}

// First reading.
struct Gathered {
    EpochTable epochs;
    MessageEnds ends;
    Problems problems;

    void merge(Gathered&& other) {
        epochs.merge(other.epochs);
        ends.merge(std::move(other.ends));
        problems.merge(other.problems);
    }
    template <class Carrier> void carry(Carrier& carrier) { carrier(epochs, ends, problems); }
    bool fits(const Job& job) const { return epochs.fits(job) && ends.fits(job) && rows_of(problems, job); }
};

// Second reading.
class Charged {
  public:
    Charged(const model::Run& run, JobCharge none)
        : charge(std::move(none)), run_(&run), epochs_(charge.others_begin.size()), levels_(charge.levels.size()),
          cells_(charge.arrivals.size()) {}

    JobCharge charge;
    std::map<uint32_t, RankCharge> ranks; // by row
    Problems problems;

    void merge(Charged&& other) {
        charge.merge(other.charge);
        ranks.merge(other.ranks);
        problems.merge(other.problems);
    }
    template <class Carrier> void carry(Carrier& carrier) { carrier(charge, ranks, problems); }
    bool fits(const Job& job) const {
        return rows_of(ranks, job) && rows_of(problems, job) && charge.caused.size() == job.ranks.size() &&
               charge.comm_wait.size() == job.comms.size() && charge.comm_operation.size() == job.comms.size() &&
               charge.others_begin.size() == epochs_ && charge.responsible_begin.size() == epochs_ &&
               charge.responsible_extra.size() == epochs_ && charge.levels.size() == levels_ &&
               std::ranges::all_of(charge.levels, [&](const LevelCharge& level) { return level.fits(job, epochs_); }) &&
               charge.arrivals.size() == cells_ &&
               std::ranges::all_of(ranks, [&](const auto& entry) {
                   return entry.second.sites.size() == run_->processes[job.ranks[entry.first].process].mpi->sites.size() &&
                          entry.second.turns.fits(*run_, job);
               });
    }

  private:
    const model::Run* run_;
    size_t epochs_, levels_, cells_; // of an empty one
};

class JobReplay {
  public:
    JobReplay(model::Run& run, Job& job, const ReplayOptions& options)
        : run_(run), job_(job), options_(options), work_(job, options.threads, options.team),
          levels_(LateLevels::of(run, job)),
          charges_(job.ranks.size()), caused_by_messages_(job.ranks.size()) {}

    // Nothing in a process of a team that does not lead it.
    std::optional<model::MpiJob> replay() {
        set_clocks(run_, job_);
        std::vector<HostShift> shifts;
        try {
            result_.clocks = align_hosts(run_, job_, options_.open, work_, shifts);
        } catch (const Error& error) { // the reading below says which rank it was
            result_.clocks.aligned = false;
        }
        EpochTable epochs = gather();
        fits_ = fit_transfers(job_, messages_);
        result_.chains = find_chains(run_, job_, messages_, least_turn(fits_), caused_by_messages_);
        std::optional<model::MpiNoise> noise = time_lost_to_noise(run_, job_, epochs, messages_, options_.open, work_);
        if (options_.steps && !options_.team)
            result_.steps = steps_of(run_, job_, epochs, messages_, options_.open, work_);
        if (!charge(epochs))
            return {};
        if (noise)
            result_.noise = std::move(*noise);
        describe();
        note_problems();
        return std::move(result_);
    }

  private:
    EpochTable gather() {
        const uint64_t ends = recorded_ends(run_, job_);
        const auto none = [&] { return Gathered{EpochTable(job_), MessageEnds(job_, ends), {}}; };
        Gathered all = work_.of_all(none, [&](uint32_t row, Gathered& gathered) {
            read(row, gathered.problems, [&] {
                RankEvents(run_, job_.ranks[row])
                    .visit(options_.open, trace::Overloaded{
                                              [&](const Collective& event) { gathered.epochs.take(row, event); },
                                              [&](const Message& event) { gathered.ends.take(row, event); },
                                          });
            });
        });
        problems_.merge(all.problems);
        messages_ = std::move(all.ends).match();
        messages_.weigh(run_, job_);
        all.epochs.finish(levels_);
        return std::move(all.epochs);
    }

    bool charge(const EpochTable& epochs) {
        const HeatMapShape shape(job_, epochs, longest_awaited(epochs));
        const Responsible responsible = find_responsible(run_, job_, epochs, messages_, options_.open, work_);
        const std::vector<double> usual_delay = usual_run_delays(run_, job_);
        const CycleShape cycles = CycleShape::of(job_, epochs);
        const ChargeInput input{run_, job_, epochs, messages_, shape, responsible, usual_delay, levels_, least_turn(fits_), cycles};
        const auto none = [&] { return Charged(run_, JobCharge(job_, epochs, shape, levels_)); };
        auto charged = work_.for_leader(none, [&](uint32_t row, Charged& share) {
            read(row, share.problems, [&] { charge_rank(input, row, options_.open, share.ranks[row], share.charge); });
        });
        if (!charged)
            return false;
        problems_.merge(charged->problems);
        for (auto& [row, charge] : charged->ranks)
            charges_[row] = std::move(charge);
        const JobCharge& all = charged->charge;
        stride_ = epochs.stride();
        result_.ranks = rank_rows(run_, job_, charges_, all, messages_, caused_by_messages_, stride_);
        const std::vector<double> gains = gains_of(job_, epochs, responsible, all, charges_);
        for (size_t row = 0; row < gains.size(); ++row)
            result_.ranks[row].gain_s = gains[row] * 1e-9 * static_cast<double>(stride_);
        const std::vector<double> level_gains = gains_of_levels(job_, epochs, all, charges_);
        for (size_t level = 0; level < levels_.size(); ++level)
            result_.late_groups.push_back({.rows = levels_.rows(level),
                                           .gain_s = level_gains[level] * 1e-9 * static_cast<double>(stride_)});
        result_.sites = merge_call_sites(run_, job_, charges_, messages_, stride_);
        result_.arrivals = shape.empty_map();
        all.arrivals.write(result_.arrivals);
        result_.chains.collective_wait_s = seconds(all.chain_wait) * static_cast<double>(stride_);
        add_turns(run_, job_, charges_, stride_, result_.chains);
        result_.granularity = granularity_of(all, epochs);
        result_.cycles = cycles_of(run_, job_, epochs, cycles, all.meetings, since(run_.begin_ns, begin_ns()));
        result_.granularity.cycles = result_.cycles.count;
        result_.granularity.mean_cycle_s = result_.cycles.mean_s;
        result_.granularity.least_cycle_s = result_.cycles.least_s;
        describe_comms(epochs, all);
        return true;
    }

    // Rows of the job by what others waited for them, the longest first.
    std::vector<uint32_t> longest_awaited(const EpochTable& epochs) const {
        std::vector<Nanoseconds> caused(job_.ranks.size());
        for (const Epoch& epoch : epochs.epochs())
            if (const Arrival awaited = epoch.awaited(); epoch.complete && awaited.row < caused.size())
                accumulate(caused[awaited.row], std::max<int64_t>(0, epoch.ahead_of(awaited.begin)));
        std::vector<uint32_t> rows(job_.ranks.size());
        std::iota(rows.begin(), rows.end(), 0);
        std::ranges::stable_sort(rows, std::ranges::greater(), [&](uint32_t row) { return caused[row]; });
        return rows;
    }

    void describe_comms(const EpochTable& epochs, const JobCharge& all) {
        const auto scale = static_cast<double>(stride_);
        for (size_t i = 0; i < job_.comms.size(); ++i) {
            const Communicator& comm = job_.comms[i];
            result_.comms.push_back({.name = comm.name.empty() && comm.world ? "MPI_COMM_WORLD" : comm.name,
                                     .size = comm.size,
                                     .members_recorded = comm.recorded,
                                     .world = comm.world,
                                     .inter = comm.inter,
                                     .kind = comm.kind,
                                     .wait_s = seconds(all.comm_wait[i]) * scale,
                                     .operation_s = seconds(all.comm_operation[i]) * scale});
        }
        for (const Epoch& epoch : epochs.epochs()) {
            if (!epoch.complete) {
                result_.incomplete_epochs++;
                continue;
            }
            model::MpiCommRow& comm = result_.comms[epoch.comm];
            comm.epochs += stride_;
            result_.epochs++;
            if (!(epoch.kind & trace::kMpiSynchronising) || epoch.is_neighbour())
                continue;
            const double mean_s = static_cast<double>(epoch.ahead_of(epoch.last.begin)) * 1e-9 / epoch.arrivals;
            comm.imbalance_s += mean_s * scale;
            result_.imbalance_s += mean_s * scale * epoch.arrivals / std::max(1, job_.size);
        }
        result_.epoch_stride = stride_;
        for (const model::MpiCommRow& comm : result_.comms) {
            result_.wait_s += comm.wait_s;
            result_.operation_s += comm.operation_s;
        }
        limit_collectives();
    }

    // What is scaled up from a part of the collectives can be no more than the ranks' time in them, which is exact.
    void limit_collectives() {
        double most_s = 0;
        for (const model::MpiRankRow& row : result_.ranks)
            most_s += row.collective_wait_s + row.collective_s;
        const double scaled_s = result_.wait_s + result_.operation_s;
        if (scaled_s <= most_s || scaled_s <= 0)
            return;
        const double factor = most_s / scaled_s;
        for (model::MpiCommRow& comm : result_.comms) {
            comm.wait_s *= factor;
            comm.operation_s *= factor;
        }
        result_.wait_s *= factor;
        result_.operation_s *= factor;
    }

    // The first end of MPI_Init.
    uint64_t begin_ns() const {
        uint64_t begin = UINT64_MAX;
        for (const Rank& rank : job_.ranks) {
            const model::Process& process = run_.processes[rank.process];
            begin = std::min(begin, process.mpi->init_end_ns ? process.mpi->init_end_ns : process.start_ns);
        }
        return begin;
    }

    void describe() {
        result_.name = job_.name;
        result_.spawned = job_.spawned;
        result_.size = job_.size;
        result_.hosts = result_.clocks.hosts;
        const model::MpiProcess& first = *run_.processes[job_.ranks.front().process].mpi;
        result_.library = first.library;
        result_.library_version = first.library_version;
        const uint64_t begin = begin_ns();
        double end_s = 0;
        for (const model::MpiRankRow& row : result_.ranks) {
            const model::Process& process = run_.processes[row.process];
            const uint64_t own = process.mpi->init_end_ns ? process.mpi->init_end_ns : process.start_ns;
            end_s = std::max(end_s, static_cast<double>(own - begin) * 1e-9 + row.elapsed_s);
            result_.late_sender_s += row.late_sender_s;
            result_.late_receiver_s += row.late_receiver_s;
        }
        result_.begin_s = begin > run_.begin_ns ? static_cast<double>(begin - run_.begin_ns) * 1e-9 : 0;
        result_.elapsed_s = end_s;
        result_.matrix = communication_matrix(run_, job_);
        result_.message_sizes = message_sizes(run_, job_);
        result_.matched_messages = messages_.matched;
        result_.unmatched_ends = messages_.unmatched;
        result_.message_stride = messages_.weight;
        result_.messages_in_burst = messages_.messages_in_burst;
        result_.within_host = fits_.within_host;
        result_.between_hosts = fits_.between_hosts;
        result_.pending = find_pending(run_, job_, options_.open);
    }

    template <class Work> static void read(uint32_t row, Problems& problems, const Work& work) {
        try {
            work();
        } catch (const Error& error) {
            problems.emplace(row, error.what());
        }
    }

    void note_problems() {
        constexpr size_t kMostNotes = 4;
        size_t noted = 0;
        for (const auto& [row, problem] : problems_)
            if (noted++ < kMostNotes)
                run_.notes.push_back(fmt::format("the MPI events of rank {} could not be read: {}", job_.ranks[row].rank, problem));
        if (noted > kMostNotes)
            run_.notes.push_back(fmt::format("nor those of {} other ranks", noted - kMostNotes));
    }

    model::Run& run_;
    Job& job_;
    const ReplayOptions& options_;
    RankWork work_;
    LateLevels levels_;
    std::vector<RankCharge> charges_;
    std::vector<Nanoseconds> caused_by_messages_;
    MatchedMessages messages_;
    TransferFits fits_;
    Problems problems_;
    uint64_t stride_ = 1;
    model::MpiJob result_;
};

} // namespace

void replay_mpi(model::Run& run, const ReplayOptions& options) {
    ReplayOptions used = options;
    if (!used.open)
        used.open = [](const std::string& name) { return trace::TraceReader(name); };
    for (Job& job : find_jobs(run)) {
        if (std::optional<model::MpiJob> result = JobReplay(run, job, used).replay())
            run.mpi_jobs.push_back(std::move(*result));
    }
}

} // namespace plumb::replay
