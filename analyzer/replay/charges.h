// Second reading: what each rank's collectives cost it, and why it came late to those at which the others waited for it.
#pragma once

#include "replay/cycle_parts.h"
#include "replay/messages/chains.h"
#include "replay/collectives/epochs.h"
#include "replay/collectives/heat_map.h"
#include "replay/collectives/late_levels.h"
#include "replay/events/log_histogram.h"
#include "replay/events/off_cpu.h"
#include "replay/responsible.h"
#include "replay/messages/turns.h"

#include <algorithm>
#include <map>
#include <vector>

namespace plumb::replay {

// Of one rank; nanoseconds and counts of the collectives that were laid side by side.
struct RankCharge {
    struct Site {
        Nanoseconds wait = 0, operation = 0;
        Nanoseconds late = 0; // of RankCharge::lateness
    };
    std::vector<Site> sites; // as MpiProcess::sites
    Nanoseconds wait = 0, operation = 0;
    uint64_t collectives = 0, times_last = 0;
    uint64_t times_root = 0; // responsible without coming last itself
    Nanoseconds lateness = 0, late_computing = 0, late_delayed = 0, late_asleep = 0, late_waiting = 0;
    double delayed_intervals = 0; // share of its thread's intervals with noticeable run delay; 0 unless it came last
    LogHistogram extra_compute; // over the median of the others, in all its collectives
    struct Turns { // after which it waited in a collective for the rank that had waited for its message, see turns.h
        uint64_t count = 0;
        Nanoseconds overlap = 0;
        std::map<SiteOfWait, Nanoseconds> by_site; // where that one had waited; at most kMostTurnSites
        template <class Carrier> void carry(Carrier& carrier) { carrier(count, overlap, by_site); }
        bool fits(const model::Run& run, const Job& job) const { // what was carried here is possible
            return std::ranges::all_of(by_site, [&](const auto& entry) {
                return entry.first.row < job.ranks.size() &&
                       entry.first.site < run.processes[job.ranks[entry.first.row].process].mpi->sites.size();
            });
        }
    } turns;
    static constexpr size_t kMostTurnSites = 64;
    std::map<uint32_t, Nanoseconds> delayed_by; // row at the root of late_waiting; at most kMostDelayers
    static constexpr size_t kMostDelayers = 64;

    template <class Carrier> void carry(Carrier& carrier) { // see team/packing.h
        carrier(sites, wait, operation, collectives, times_last, times_root, lateness, late_computing, late_delayed,
                late_asleep, late_waiting, delayed_intervals, extra_compute, turns, delayed_by);
    }
};

// Of the ranks of one level, by epoch.
struct LevelCharge {
    struct Late {
        Nanoseconds begin = INT64_MIN, extra = 0;
        uint32_t row = UINT32_MAX;
    };
    explicit LevelCharge(size_t epochs = 0) : others_begin(epochs, INT64_MIN), late(epochs) {}

    // When the last of those that belong neither to it nor to a level above would have arrived, had none of them waited
    // for such a rank; and the last of its own, likewise, with what that one had computed more than the median.
    std::vector<Nanoseconds> others_begin;
    std::vector<Late> late;

    void keep_latest(size_t epoch, const Late& candidate);
    void merge(const LevelCharge& other);
    template <class Carrier> void carry(Carrier& carrier) { carrier(others_begin, late); }
    bool fits(const Job& job, size_t epochs) const {
        return others_begin.size() == epochs && late.size() == epochs && std::ranges::all_of(late, [&](const Late& one) {
                   return one.row < job.ranks.size() || one.row == UINT32_MAX;
               });
    }
};

// Of all ranks together.
struct JobCharge {
    JobCharge(const Job& job, const EpochTable& epochs, const HeatMapShape& shape, const LateLevels& late_levels)
        : caused(job.ranks.size()), comm_wait(job.comms.size()), comm_operation(job.comms.size()),
          others_begin(epochs.epochs().size(), INT64_MIN), responsible_begin(epochs.epochs().size(), INT64_MIN),
          responsible_extra(epochs.epochs().size()),
          levels(late_levels.size(), LevelCharge(epochs.epochs().size())),
          arrivals(shape) {}

    std::vector<Nanoseconds> caused; // by row: what others waited for it
    std::vector<Nanoseconds> comm_wait, comm_operation;
    Nanoseconds chain_wait = 0; // in collectives whose last rank was late because of a chain
    // By epoch: when the last of the others would have arrived, had none of them waited for the responsible rank; when
    // that one arrived, and what it had computed more than the median of the others.
    std::vector<Nanoseconds> others_begin, responsible_begin, responsible_extra;
    std::vector<LevelCharge> levels; // as LateLevels
    LogHistogram compute;       // between collectives that synchronise
    Nanoseconds compute_sum = 0, compute_least = kMost, compute_most = 0;
    HeatMapCells arrivals;
    std::vector<MeetingParts> meetings; // in any order

    void merge(const JobCharge& other);
    template <class Carrier> void carry(Carrier& carrier) {
        carrier(caused, comm_wait, comm_operation, chain_wait, others_begin, responsible_begin, responsible_extra, levels,
                compute, compute_sum, compute_least, compute_most, arrivals, meetings);
    }
};

// What the reading of one rank needs to know; outlives it.
struct ChargeInput {
    const model::Run& run;
    const Job& job;
    const EpochTable& epochs;
    const MatchedMessages& messages;
    const HeatMapShape& shape;
    const Responsible& responsible;
    const std::vector<double>& usual_delay; // see usual_run_delays
    const LateLevels& levels;
    Nanoseconds least_turn; // see turns.h
    const CycleShape& cycles;
};

// For each rank the share of its time for which the median of the other ranks is runnable without a CPU.
std::vector<double> usual_run_delays(const model::Run& run, const Job& job);

// Reads the collectives of the rank at `row`. Its own charge is exact and complete afterwards; what others did to one
// another is added to `all`.
void charge_rank(const ChargeInput& input, uint32_t row, const OpenTrace& open, RankCharge& own, JobCharge& all);

} // namespace plumb::replay
