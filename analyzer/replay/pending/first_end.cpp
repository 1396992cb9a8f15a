// Which rank ended first, where that is why the others did not get on.
#include "replay/pending/pending.h"

#include <algorithm>
#include <csignal>

namespace plumb::replay {

namespace {

using model::MpiPendingRank;

// A launcher that ends a job, or a Ctrl-C, reaches the ranks one after another; on a crowded machine they take a while to go.
constexpr double kClearly_s = 0.25;

bool is_crash(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT || signal == SIGSYS;
}

bool is_alone(const std::vector<MpiPendingRank>& ranks, const auto& is_like_it) {
    return std::ranges::count_if(ranks, is_like_it) == 1;
}

// All other ranks of the job lived on, those that ended MPI included.
bool is_clearly_first(const model::Run& run, const Job& job, const MpiPendingRank& first) {
    const uint64_t end_ns = run.processes[first.process].end_ns;
    return std::ranges::all_of(job.ranks, [&](const Rank& other) {
        return other.process == first.process ||
               run.processes[other.process].end_ns >= end_ns + static_cast<uint64_t>(kClearly_s * 1e9);
    });
}

// What tells a rank that ended for a reason of its own from those that were ended with it. SIGKILL that was seen came to this
// process only: one for the whole job would have ended the recorder, too.
bool has_own_reason(const std::vector<MpiPendingRank>& ranks, const MpiPendingRank& first) {
    if (is_crash(first.signal))
        return true;
    if (first.signal == SIGKILL)
        return is_alone(ranks, [](const MpiPendingRank& rank) { return rank.signal == SIGKILL; });
    return first.state == MpiPendingRank::State::ended &&
           is_alone(ranks, [](const MpiPendingRank& rank) { return rank.state == MpiPendingRank::State::ended; });
}

} // namespace

void find_first_end(const model::Run& run, const Job& job, model::MpiPending& pending) {
    if (pending.ranks.size() < 2 || !pending.aborting.empty()) // who called MPI_Abort is the cause
        return;
    const auto earliest = [&](const auto& counts) {
        uint32_t found = UINT32_MAX;
        for (uint32_t place = 0; place < pending.ranks.size(); ++place)
            if (const MpiPendingRank& rank = pending.ranks[place];
                rank.end_seen && counts(rank) && (found == UINT32_MAX || rank.end_s < pending.ranks[found].end_s))
                found = place;
        return found;
    };
    const uint32_t first = earliest([](const MpiPendingRank&) { return true; });
    if (first == UINT32_MAX)
        return;
    if (is_clearly_first(run, job, pending.ranks[first]) || has_own_reason(pending.ranks, pending.ranks[first]))
        pending.ended_first = first;
    else
        pending.ended_first = earliest([](const MpiPendingRank& rank) { return is_crash(rank.signal); });
}

} // namespace plumb::replay
