// What the diagnoses of MPI share: which ranks are late, which call sites matter, and how much of the run a cost is.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/diagnosis.h"
#include "model/mpi_job.h"

#include <string>
#include <vector>

namespace plumb {

// A rank that makes the others wait, again and again, far more than ranks usually do for one another; or several that are late
// together, so that each hides behind the others.
struct LateRanks {
    std::vector<const model::MpiRankRow*> rows; // by rank
    double cost_s = 0;       // wall time of the job that their being late costs
    bool by_messages = false; // known by those that wait for its messages; collectives do not show them
    std::vector<int> behind = {}; // later ranks that hide them: what they cost shows once those are cured

    bool has(const model::MpiRankRow& row) const;
};

// The costliest first.
std::vector<LateRanks> late_ranks(const model::Run& run, const model::MpiJob& job);

// Wall seconds that work done one rank after another costs: the mean rank's waiting.
double serialised_seconds(const model::MpiJob& job);

// A call that carries more bytes spends its time on them, less on starting. A judgement.
inline constexpr double kSmallCall_bytes = 8192;

double fraction_of_run(const model::Run& run, double seconds);

// Adds the line that called; `weight` in any unit.
void add_call_site(model::CallPaths& paths, const model::MpiCallSite& site, double weight, LineShares& lines);

// "4 ranks", or "4 ranks of the job 17.0" when the run has several jobs.
std::string job_words(const model::Run& run, const model::MpiJob& job);

// Evidence that what rests on events rests on a part of them only; nothing when all were kept.
void tell_thinning(const model::MpiJob& job, Finding& finding);

// Share of the ranks' time, 0..1, in which they could have run but had no CPU; `without`: ranks that are left out, or null.
double starved_share(const model::MpiJob& job, const LateRanks* without = nullptr);
double starved_share(const std::vector<const model::MpiRankRow*>& rows);

// Where ranks lacked CPUs for kStarvedShare of their time, one waits for another because that one is not running: what looks
// like a cost of the program's own is a bound of it, and what a cure would gain cannot be determined. Says so in the finding;
// changes nothing below that share. To be called when the finding is complete.
void allow_for_starved_ranks(double share, Finding& finding);
inline constexpr double kStarvedShare = 0.2;

} // namespace plumb
