#include "replay/noise/takers.h"

#include "replay/events/rank_time.h"

#include <algorithm>

namespace plumb::replay {

namespace {

noise::WatchedThread watched_thread(const model::Run& run, const Rank& rank) {
    const model::Process& process = run.processes[rank.process];
    return {rank.process, main_mpi_thread(process), rank.host, process.mpi->init_end_ns,
            process.mpi->finalize_begin_ns ? process.mpi->finalize_begin_ns : UINT64_MAX};
}

} // namespace

Takers::Takers(const model::Run& run, const Job& job) {
    std::vector<noise::WatchedThread> watched;
    for (const Rank& rank : job.ranks)
        watched.push_back(watched_thread(run, rank));
    noise::FoundTakers found = noise::find_takers(run, watched);
    takers_ = std::move(found.takers);
    recorded_share_ = found.recorded_share;
    for (const std::vector<noise::TakenInterval>& of_rank : found.taken) {
        std::vector<Taken>& taken = taken_.emplace_back();
        for (const noise::TakenInterval& one : of_rank)
            taken.push_back({since(run.begin_ns, one.begin_ns), since(run.begin_ns, one.end_ns), one.taker});
    }
}

void Takers::add_taken(uint32_t row, Nanoseconds begin, Nanoseconds end, Sums& sums) const {
    for_each_taken(row, begin, end, [&](uint32_t taker, Nanoseconds from, Nanoseconds to) {
        if (taker < sums.size())
            sums[taker] += to - from;
    });
}

} // namespace plumb::replay
