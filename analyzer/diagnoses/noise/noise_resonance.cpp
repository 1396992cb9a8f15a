// Collectives so close together that each interruption of a rank, short as it is, delays all of them: the same noise costs less
// where ranks wait for one another less often, because each rank's interruptions then add up before the slowest is waited for.
//
// Found by replaying the recorded job with every second to sixteenth of its collectives of all ranks, with its noise and without.
// Whether the algorithm can do with fewer is not known: the gain is an upper bound.
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace plumb {

namespace {

constexpr double kLeastResonanceGain = 0.01; // of the run
constexpr double kMostRemains = 0.5;         // of the loss, with so many fewer collectives: else it is no resonance

using Grouping = model::MpiNoise::Grouping;

// The least change that removes half of the loss.
std::optional<Grouping> enough(const model::MpiNoise& noise) {
    for (const Grouping& grouping : noise.groupings)
        if (grouping.lost_s <= kMostRemains * noise.lost_s)
            return grouping;
    return std::nullopt;
}

// Of one rank's time, how much it has no CPU: what noise would cost if ranks never waited for one another.
double taken_share(const model::MpiJob& job) {
    double taken_s = 0;
    for (const model::NoiseTaker& taker : job.noise.takers)
        if (taker.is_noise())
            taken_s += taker.taken_s;
    return taken_s / std::max(1e-9, job.elapsed_s * static_cast<double>(std::max<size_t>(job.ranks.size(), 1)));
}

class NoiseResonance : public Diagnosis {
  public:
    const char* id() const override { return "noise-resonance"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            const std::vector<const model::NoiseTaker*> makers = noise_makers(input.run, job);
            const std::optional<Grouping> fewer = enough(job.noise);
            if (!makers.empty() && fewer &&
                fraction_of_run(input.run, job.noise.lost_s - fewer->lost_s) >= kLeastResonanceGain)
                findings.push_back(finding_of(input, job, *makers[0], *fewer));
        }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, const model::NoiseTaker& most,
                       const Grouping& fewer) const {
        const double lost = fraction_of_run(input.run, job.noise.lost_s), left = fraction_of_run(input.run, fewer.lost_s);
        const double taken = taken_share(job);
        Finding finding;
        finding.id = id();
        finding.title = fmt::format("Ranks wait for one another every {}: noise that takes {} of each rank's time costs the job {}",
                                    format_seconds(job.granularity.mean_s), format_fraction(taken), format_fraction(lost));
        finding.confidence = 0.8;
        finding.cost = {job.noise.lost_s, lost, "estimated"};
        finding.gain = {.fraction = lost - left,
                        .how = fmt::format("estimated by replaying the job with one in {} of its collectives of all ranks: noise then costs "
                                           "{} of the run",
                                           fewer.joints, format_fraction(left)),
                        .is_at_most = true};
        LineShares lines;
        for (const model::MpiCallSite& site : job.sites)
            if (site.wait_s > 0)
                add_call_site(input.paths, site, site.wait_s, lines);
        finding.where = lines.heaviest(3);
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "MPI collectives" : place_name(finding.where[0]);
        finding.evidence["interval_mean_ms"] = job.granularity.mean_s * 1e3;
        finding.evidence["interruption_mean_ms"] = most.taken_s * 1e3 / static_cast<double>(std::max<uint64_t>(most.preemptions, 1));
        finding.evidence["taken_fraction"] = taken;
        finding.evidence["amplification_ratio"] = taken > 0 ? lost / taken : 0;
        for (const Grouping& grouping : job.noise.groupings)
            finding.evidence[fmt::format("with_one_in_{}_lost_fraction", grouping.joints)] = fraction_of_run(input.run, grouping.lost_s);
        finding.advice = {{"Wait for all ranks less often",
                           fmt::format("do {} steps between two collectives where the algorithm allows it (check convergence less often, "
                                       "combine reductions, use non-blocking ones), or remove the noise",
                                       fewer.joints),
                           "code", ""}};
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_noise_resonance() { return std::make_unique<NoiseResonance>(); }

} // namespace plumb
