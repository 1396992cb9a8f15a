// Time in collectives: waiting for the last to arrive, and the operations themselves.
#include "diagnoses/common/equal_work.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/registry.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastWait = 0.05;      // of the run: ranks never arrive all at once
constexpr double kLeastOperation = 0.10; // of the run, in the operations themselves
constexpr size_t kMostRanksNamed = 8;

bool is_large(const model::MpiCallSite& site) {
    return site.calls > 0 && static_cast<double>(site.sent_bytes) > kSmallCall_bytes * static_cast<double>(site.calls);
}

// Of the operations' time, that in calls of little data.
double small_share(const model::MpiJob& job) {
    double all_s = 0, small_s = 0;
    for (const model::MpiCallSite& site : job.sites) {
        all_s += site.operation_s;
        small_s += is_large(site) ? 0 : site.operation_s;
    }
    return all_s > 0 ? small_s / all_s : 1;
}

// What of `gain_s` is no chance: ranks that are late by much the same each time, or by more than chance makes them.
double certain_s(const model::MpiJob& job, double gain_s) {
    double regular_s = 0, all_s = 0, compute_s = 0;
    for (const model::MpiRankRow& row : job.ranks) {
        regular_s += row.lateness.computing_s + row.lateness.starved_s + row.lateness.blocked_s + row.lateness.waiting_s;
        all_s += row.lateness.sum_s();
        compute_s += row.compute_s;
    }
    const double regular = all_s > 0 ? std::min(1.0, regular_s / all_s) : 0;
    const double chance_s = kEqualWorkDiffers * compute_s / static_cast<double>(std::max<size_t>(job.ranks.size(), 1));
    return std::clamp(std::max(gain_s * regular, gain_s - chance_s), 0.0, gain_s);
}

class MpiCollectiveWait : public Diagnosis {
  public:
    const char* id() const override { return "mpi-collective-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            if (job.size < 2)
                continue;
            const double ranks = job.size;
            double told_s = job.chains.collective_wait_s / ranks; // by mpi-serialised
            double late_s = 0;
            for (const LateRanks& late : late_ranks(input.run, job))
                late_s += late.cost_s;
            told_s += std::max(late_s, noise_seconds(input.run, job)); // a rank may be late because of noise
            const double wait_s = job.wait_s / ranks - told_s;
            if (fraction_of_run(input.run, wait_s) >= kLeastWait)
                findings.push_back(waiting(input, job, wait_s, told_s));
            const double operation_s = job.operation_s / ranks;
            if (fraction_of_run(input.run, operation_s) >= kLeastOperation)
                findings.push_back(operations(input, job, operation_s));
        }
        return findings;
    }

  private:
    Finding base(const DiagnosisInput& input, const model::MpiJob& job, double cost_s, const LineShares& lines) const {
        Finding finding;
        finding.id = id();
        finding.cost.seconds = cost_s;
        finding.cost.fraction = fraction_of_run(input.run, cost_s);
        finding.cost.how = job.epoch_stride > 1 ? "estimated" : "measured";
        finding.confidence = 0.9;
        finding.where = lines.heaviest(5);
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "MPI collectives" : place_name(finding.where[0]);
        finding.evidence["rank_wait_seconds"] = job.wait_s;
        finding.evidence["rank_operation_seconds"] = job.operation_s;
        finding.evidence["collective_count"] = static_cast<int64_t>(job.epochs * job.epoch_stride);
        finding.evidence["interval_mean_ms"] = job.granularity.mean_s * 1e3;
        finding.evidence["interval_median_ms"] = job.granularity.median_s * 1e3;
        tell_thinning(job, finding);
        note_unplaced(lines, input.run, finding);
        return finding;
    }

    // Ranks that compute more than the mean, by how much.
    static std::vector<int64_t> busiest_ranks(const model::MpiJob& job) {
        double sum_s = 0;
        for (const model::MpiRankRow& row : job.ranks)
            sum_s += row.compute_s;
        const double mean_s = sum_s / static_cast<double>(job.ranks.size());
        std::vector<const model::MpiRankRow*> rows;
        for (const model::MpiRankRow& row : job.ranks)
            if (row.compute_s > 1.05 * mean_s)
                rows.push_back(&row);
        std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto* row) { return row->compute_s; });
        std::vector<int64_t> ranks;
        for (size_t i = 0; i < std::min(rows.size(), kMostRanksNamed); ++i)
            ranks.push_back(rows[i]->rank);
        return ranks;
    }

    Finding waiting(const DiagnosisInput& input, const model::MpiJob& job, double wait_s, double told_s) const {
        LineShares lines;
        for (const model::MpiCallSite& site : job.sites)
            if (site.kind & (trace::kMpiCollectiveCall | trace::kMpiWait))
                add_call_site(input.paths, site, site.kind & trace::kMpiCollectiveCall ? site.wait_s : 0, lines);
        Finding finding = base(input, job, wait_s, lines);
        finding.title = fmt::format("{} wait {:.0f} % of the time in collectives for the last one to arrive",
                                    job_words(input.run, job), 100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", mainly at " + place_name(finding.where[0]);
        // Ranks of equal speed would meet where now the mean rank arrives.
        const double gain_s = std::clamp(job.imbalance_s - told_s, 0.0, wait_s);
        finding.gain = {fraction_of_run(input.run, gain_s),
                        "estimated for collectives in which all members arrive at the mean time",
                        fraction_of_run(input.run, certain_s(job, gain_s))};
        finding.evidence["imbalance_seconds"] = job.imbalance_s;
        if (told_s > 0)
            finding.evidence["told_by_other_findings_seconds"] = told_s;
        const std::vector<int64_t> busiest = busiest_ranks(job);
        if (!busiest.empty()) {
            finding.evidence["ranks_that_compute_most"] = busiest;
            finding.advice.push_back({"Balance the work",
                "some ranks compute more than others in every interval: give each the same amount, measured in time and not in "
                "cells", "code", ""});
        } else {
            finding.advice.push_back({"Use fewer collectives",
                "no rank computes more than the others over the whole run, but a different one does between two collectives: "
                "join collectives, or use non-blocking ones, so that a rank can catch up before the next", "code", ""});
        }
        finding.advice.push_back({"Bind the ranks to CPUs of their own",
            "ranks that share CPUs or move between them arrive at different times", "launch", ""});
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }

    Finding operations(const DiagnosisInput& input, const model::MpiJob& job, double operation_s) const {
        LineShares lines;
        for (const model::MpiCallSite& site : job.sites)
            add_call_site(input.paths, site, site.operation_s, lines);
        Finding finding = base(input, job, operation_s, lines);
        finding.title = fmt::format("{} spend {:.0f} % of the time in collective operations, without waiting",
                                    job_words(input.run, job), 100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", mainly at " + place_name(finding.where[0]);
        const double small = small_share(job);
        finding.gain = {small * finding.cost.fraction, small < 1 ? "all of it in calls that move little data: other calls take their "
                                                                   "time to move data"
                                                                 : "all of it"};
        finding.evidence["small_calls_fraction"] = small;
        finding.advice.push_back({"Call fewer, larger collectives",
            "join several reductions of a few values into one; use a non-blocking collective, and compute while it runs, if "
            "the result is not needed at once", "code", ""});
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_collective_wait() { return std::make_unique<MpiCollectiveWait>(); }

} // namespace plumb
