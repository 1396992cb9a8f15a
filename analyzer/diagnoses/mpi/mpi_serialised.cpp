// Ranks that work one after another, each waiting for the message of the one before; two of them, in turns.
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

constexpr double kLeastSerialFraction = 0.03; // of the run
constexpr uint64_t kLeastWaits = 3;
constexpr size_t kMostSerialRanksNamed = 5;

std::string rank_words(const std::vector<int>& ranks) {
    if (ranks.size() <= kMostSerialRanksNamed)
        return fmt::format("{}", fmt::join(ranks, ", "));
    const std::vector<int> first(ranks.begin(), ranks.begin() + 3);
    return fmt::format("{}, ..., {}", fmt::join(first, ", "), ranks.back());
}

class MpiSerialised : public Diagnosis {
  public:
    const char* id() const override { return "mpi-serialised"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs)
            if (job.chains.waits >= kLeastWaits && job.chains.longest >= 2 &&
                fraction_of_run(input.run, serialised_seconds(job)) >= kLeastSerialFraction)
                findings.push_back(finding_of(input, job));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job) const {
        const model::MpiChains& chains = job.chains;
        Finding finding;
        finding.id = id();
        finding.cost.seconds = serialised_seconds(job);
        finding.cost.fraction = fraction_of_run(input.run, finding.cost.seconds);
        finding.cost.how = job.message_stride > 1 ? "estimated" : "measured";
        finding.confidence = 0.85;
        LineShares lines;
        lines.add(input.paths.user_frame(chains.process, chains.path), chains.wait_s);
        finding.where = lines.heaviest(1);
        if (!finding.where.empty())
            finding.where[0].share = chains.site_share;
        finding.title = chains.longest == 2
            ? fmt::format("Ranks {} work in turns: one waits in {} while the other works",
                          fmt::join(chains.longest_ranks, " and "), chains.call)
            : fmt::format("Ranks work one after another: up to {} in a row ({}) wait for the previous one in {}",
                          chains.longest, rank_words(chains.longest_ranks), chains.call);
        if (!finding.where.empty())
            finding.title += " at " + place_name(finding.where[0]);
        finding.gain = {finding.cost.fraction, "the mean waiting time of a rank, if all ranks worked at the same time"};
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? chains.call : place_name(finding.where[0]);
        finding.evidence["chain_wait_count"] = static_cast<int64_t>(chains.waits);
        finding.evidence["chain_mean_rank_count"] = chains.mean_length;
        finding.evidence["chain_longest_rank_count"] = static_cast<int64_t>(chains.longest);
        finding.evidence["chain_wait_rank_seconds"] = chains.wait_s;
        finding.evidence["collective_wait_rank_seconds"] = chains.collective_wait_s;
        tell_thinning(job, finding);
        finding.advice.push_back({"Send before computing, or receive later",
            "if a rank's work does not need the received data, let it send first, or start the receive with MPI_Irecv and wait "
            "for it where the data is used", "code", ""});
        finding.advice.push_back({"Cut the work of each rank into pieces",
            "if it does, send each piece as soon as it is ready: the next rank then works while this one continues (a "
            "pipeline); order exchanges in pairs (MPI_Sendrecv, odd and even ranks) rather than along the row of ranks",
            "code", ""});
        note_unplaced(lines, input.run, finding);
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_serialised() { return std::make_unique<MpiSerialised>(); }

} // namespace plumb
