#include "diagnoses/mpi/mpi_findings.h"

#include "diagnoses/mpi/common_trait.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastFraction = 0.01; // of the job's time
// Times what the median of the other ranks costs: what comes now and then comes to some rank most often by chance; what a rank
// does more in most intervals does not.
constexpr double kAboveUsual = 3, kAboveUsualIfSteady = 1.5;
constexpr uint64_t kLeastTimes = 3;
constexpr double kTogether = 1.5; // times what each of several ranks costs alone: they hide one another
constexpr double kMainCause = 0.6;      // of all waiting for senders and receivers
constexpr double kStarvedConfidence = 0.3;
constexpr double kLeastOfIts = 0.5;     // of the collectives that tell of a rank: below, receives are asked

double median_of_others(const std::vector<double>& values, size_t without) {
    std::vector<double> others;
    for (size_t i = 0; i < values.size(); ++i)
        if (i != without)
            others.push_back(values[i]);
    if (others.empty())
        return 0;
    const auto middle = others.begin() + static_cast<ptrdiff_t>(others.size() / 2);
    std::nth_element(others.begin(), middle, others.end());
    return *middle;
}

std::vector<double> gains_of(const model::MpiJob& job) {
    std::vector<double> gains;
    for (const model::MpiRankRow& row : job.ranks)
        gains.push_back(row.gain_s);
    return gains;
}

// Levels of ranks (MpiLateGroup) that cost more together than each for itself, and what hides behind them.
std::vector<LateRanks> late_groups(const model::Run& run, const model::MpiJob& job) {
    std::vector<LateRanks> late;
    std::vector<int> above;
    for (const model::MpiLateGroup& group : job.late_groups) {
        LateRanks ranks{.rows = {}, .cost_s = group.gain_s, .behind = above};
        double alone_s = 0;
        uint64_t times = 0;
        for (const uint32_t row : group.rows) {
            ranks.rows.push_back(&job.ranks.at(row));
            above.push_back(job.ranks[row].rank);
            alone_s += job.ranks[row].gain_s;
            times += job.ranks[row].times_last + job.ranks[row].times_responsible;
        }
        // Half of the ranks are as usual as the other half, unless they are something else.
        const bool is_minority = 2 * ranks.rows.size() < job.ranks.size() || common_trait(run, job, ranks.rows).is_place();
        const bool is_told = !ranks.behind.empty() || times >= kLeastTimes * job.epoch_stride;
        if (is_minority && is_told && group.gain_s >= kLeastFraction * job.elapsed_s && group.gain_s > kTogether * alone_s &&
            job.epochs >= kLeastTimes)
            late.push_back(std::move(ranks));
    }
    return late;
}

} // namespace

bool LateRanks::has(const model::MpiRankRow& row) const { return std::ranges::find(rows, &row) != rows.end(); }

std::vector<LateRanks> late_ranks(const model::Run& run, const model::MpiJob& job) {
    if (job.ranks.size() < 2 || job.elapsed_s <= 0)
        return {};
    std::vector<LateRanks> late = late_groups(run, job);
    const std::vector<double> gains = gains_of(job);
    for (size_t i = 0; i < gains.size(); ++i) {
        const model::MpiRankRow& row = job.ranks[i];
        if (std::ranges::any_of(late, [&](const LateRanks& group) { return group.has(row); }))
            continue;
        const bool is_steady = row.lateness.computing_s + row.lateness.blocked_s > row.lateness_s / 2;
        const double above = is_steady ? kAboveUsualIfSteady : kAboveUsual;
        if (gains[i] >= kLeastFraction * job.elapsed_s && gains[i] >= above * median_of_others(gains, i) &&
            row.times_last + row.times_responsible >= kLeastTimes * job.epoch_stride)
            late.push_back({.rows = {&row}, .cost_s = gains[i]});
    }
    // Programs that meet in messages first of all: who was waited for there comes to collectives like everybody else. Work done
    // one rank after another has no rank of its own to blame, nor have ranks that wait for one another in turn.
    const double waits_s = job.late_sender_s + job.late_receiver_s;
    const bool messages_tell = job.epochs < kLeastTimes || waits_s > job.wait_s;
    if (late.empty() && messages_tell && waits_s > 0 && job.chains.wait_s < kLeastOfIts * waits_s) {
        const auto others = static_cast<double>(job.ranks.size() - 1);
        for (const model::MpiRankRow& row : job.ranks) {
            const double cost_s = (row.caused_message_wait_s - row.late_sender_s - row.late_receiver_s) / others;
            if (row.caused_message_wait_s >= kMainCause * waits_s && cost_s >= kLeastFraction * job.elapsed_s)
                late.push_back({.rows = {&row}, .cost_s = cost_s, .by_messages = true});
        }
    }
    std::ranges::stable_sort(late, std::ranges::greater(), &LateRanks::cost_s);
    return late;
}

double serialised_seconds(const model::MpiJob& job) {
    return (job.chains.wait_s + job.chains.collective_wait_s) / std::max(1, job.size);
}

double fraction_of_run(const model::Run& run, double seconds) {
    return run.wall_ns() ? seconds / (static_cast<double>(run.wall_ns()) * 1e-9) : 0;
}

void add_call_site(model::CallPaths& paths, const model::MpiCallSite& site, double weight, LineShares& lines) {
    lines.add(paths.user_frame(site.process, site.path), weight);
}

std::string job_words(const model::Run& run, const model::MpiJob& job) {
    const std::string ranks = fmt::format("{} ranks", job.size);
    if (run.mpi_jobs.size() < 2)
        return ranks;
    return job.name.empty() ? ranks + " of one job" : fmt::format("{} of the job {}", ranks, job.name);
}

double starved_share(const std::vector<const model::MpiRankRow*>& rows) {
    double delay_s = 0, elapsed_s = 0;
    for (const model::MpiRankRow* row : rows) {
        delay_s += std::min(row->run_delay_s, row->elapsed_s);
        elapsed_s += row->elapsed_s;
    }
    return elapsed_s > 0 ? delay_s / elapsed_s : 0;
}

double starved_share(const model::MpiJob& job, const LateRanks* without) {
    std::vector<const model::MpiRankRow*> rows;
    for (const model::MpiRankRow& row : job.ranks)
        if (!without || !without->has(row))
            rows.push_back(&row);
    return starved_share(rows);
}

void allow_for_starved_ranks(double share, Finding& finding) {
    if (share < kStarvedShare)
        return;
    finding.cost.how = "bound";
    finding.gain = {0, "not known: the ranks did not have their own CPUs"};
    finding.confidence = std::min(finding.confidence, kStarvedConfidence);
    finding.evidence["without_cpu_fraction"] = share;
    finding.evidence["why_bound"] = fmt::format("the ranks were runnable without a CPU for {:.0f} % of their time, so they may "
                                                "have waited for ranks that were not running", 100 * share);
    finding.advice.insert(finding.advice.begin(),
                          {"Give each rank a CPU, then measure again",
                           "other programs, or more ranks than CPUs, took the CPU time: start at most as many ranks as there "
                           "are CPUs, and keep other programs off them", "launch", ""});
}

void tell_thinning(const model::MpiJob& job, Finding& finding) {
    if (job.epoch_stride > 1)
        finding.evidence["one_collective_in_count"] = static_cast<int64_t>(job.epoch_stride);
    if (job.message_stride > 1)
        finding.evidence["one_message_in_count"] = static_cast<int64_t>(job.message_stride);
    if (job.clocks.hosts > 1)
        finding.evidence["clock_error_us"] = job.clocks.error_s * 1e6;
}

} // namespace plumb
