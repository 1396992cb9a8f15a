// Cycles of an MPI job that do the same and take unequally long, for a reason that is known: the rank that the others wait for
// has no CPU, is blocked, or the operations of MPI themselves take longer. All wait for it, so that one rank's loss is
// everybody's.
//
// What the mean cycle takes beyond the fastest tenth of like cycles is divided by the replay (model/mpi_cycles.h), which
// compares only cycles that are alike in what the program does: patterns, growth and several kinds of cycles are nobody's loss.
// Where all ranks compute longer in a cycle, it may have more to do: that is no finding. Where the last rank computes longer
// than the others, mpi-late-rank and mpi-collective-wait report it.
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr uint64_t kLeastCompared = 40, kLeastSlow = 5; // cycles
constexpr double kLeastLoss = 0.03;       // of the run
constexpr double kLeastWithoutCpu = 0.05; // of the run: less is taken by whatever runs on any machine
constexpr double kLeastOfLoss = 0.3;      // of what cycles lose; a smaller part scatters along with the others
constexpr double kLeastSkew = 0.5;        // of the loss in MPI: what scatters to both sides of the median, no cure gains
constexpr double kMostMissing = 0.25;     // of the loss in MPI: time without a CPU that may be part of it

enum class CycleCause { without_cpu, blocked, mpi };

struct LostPart {
    CycleCause cause;
    double mean_s = 0;  // of a cycle
    double told_s = 0;  // of the job, by other diagnoses
    double tool_s = 0;  // of the job, that plumb's recorder may have taken
    double cost_s = 0;  // of the job
};

// CPU time of the recorder that ranks may have waited for: twice its even part of a CPU.
double recorder_on_one_cpu_s(const model::Run& run) {
    double most_s = 0;
    for (const model::Host& host : run.hosts) {
        const auto cpus = static_cast<double>(std::max<size_t>(host.allowed_cpus.size(), 1));
        most_s = std::max(most_s, std::min(1.0, 2 / cpus) * static_cast<double>(host.recorder_cpu_ns) * 1e-9);
    }
    return most_s;
}

// What other diagnoses say of the same cause: mpi-late-rank, by the reasons of the ranks that it names, and os-noise.
double told_of(const model::Run& run, const model::MpiJob& job, CycleCause cause) {
    double told_s = 0;
    for (const LateRanks& late : late_ranks(run, job)) {
        double of_cause_s = 0, all_s = 0;
        for (const model::MpiRankRow* row : late.rows) {
            const model::MpiLateness& why = row->lateness;
            all_s += why.sum_s();
            of_cause_s += cause == CycleCause::without_cpu ? why.starved_s + why.interrupted_s
                          : cause == CycleCause::blocked   ? why.blocked_s
                                                           : 0;
        }
        told_s += all_s > 0 ? late.cost_s * of_cause_s / all_s : 0;
    }
    if (cause == CycleCause::without_cpu)
        told_s = std::max(told_s, noise_seconds(run, job));
    return told_s;
}

double skew_s(const model::MpiCycles& cycles) { return std::max(0.0, cycles.mean_s - cycles.usual_s); }

const char* name_of_cause(CycleCause cause) {
    return cause == CycleCause::without_cpu ? "without-cpu" : cause == CycleCause::blocked ? "blocked" : "mpi";
}

class CycleVariation : public Diagnosis {
  public:
    const char* id() const override { return "cycle-variation"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            const model::MpiCycles& cycles = job.cycles;
            if (job.size < 2 || cycles.count < kLeastCompared || cycles.slow < kLeastSlow || !job.clocks.aligned)
                continue;
            const auto count = static_cast<double>(cycles.count);
            LostPart parts[] = {{.cause = CycleCause::without_cpu, .mean_s = cycles.loss.without_cpu_s},
                                {.cause = CycleCause::blocked, .mean_s = cycles.loss.blocked_s},
                                {.cause = CycleCause::mpi, .mean_s = cycles.loss.mpi_s}};
            parts[0].tool_s = recorder_on_one_cpu_s(input.run);
            for (LostPart& part : parts) {
                part.told_s = told_of(input.run, job, part.cause);
                part.cost_s = part.mean_s * count - part.told_s - part.tool_s;
                if (is_clear(input.run, job, part))
                    findings.push_back(finding_of(input, job, part));
            }
        }
        return findings;
    }

  private:
    static bool is_clear(const model::Run& run, const model::MpiJob& job, const LostPart& part) {
        const model::MpiCycles& cycles = job.cycles;
        const bool lacks_cpu = part.cause == CycleCause::without_cpu;
        if (fraction_of_run(run, part.cost_s) < (lacks_cpu ? kLeastWithoutCpu : kLeastLoss) ||
            part.mean_s < kLeastOfLoss * (cycles.mean_s - cycles.attainable_s) || part.mean_s < 2 * job.clocks.error_s)
            return false;
        if (part.cause != CycleCause::mpi)
            return true;
        // Looks that are too rare to say of which cycles a CPU was missing may have missed it within the operations.
        const double missing_s = cycles.resolves_scheduler() ? 0 : starved_share(job) * cycles.mean_s;
        return skew_s(cycles) >= kLeastSkew * part.mean_s && missing_s <= kMostMissing * part.mean_s;
    }

    static std::string title_of(const model::MpiCycles& cycles, const LostPart& part, const std::string& place) {
        const char* culprit = part.cause == CycleCause::without_cpu ? "Ranks that have no CPU lengthen"
                              : part.cause == CycleCause::blocked   ? "Ranks that are blocked outside MPI lengthen"
                                                                    : "MPI operations of unequal length lengthen";
        return fmt::format("{} the mean cycle from {} to {}{}{}", culprit, format_seconds(cycles.mean_s - part.mean_s),
                           format_seconds(cycles.mean_s), place.empty() ? "" : ", counted at ", place);
    }

    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, const LostPart& part) const {
        const model::MpiCycles& cycles = job.cycles;
        LineShares lines;
        lines.add(input.paths.user_frame(cycles.process, cycles.path), 1);
        Finding finding;
        finding.id = id();
        finding.confidence = part.cause == CycleCause::mpi ? 0.7 : 0.8;
        finding.where = lines.heaviest(1);
        const std::string place = finding.where.empty() ? std::string() : place_name(finding.where[0]);
        finding.title = title_of(cycles, part, place);
        finding.cost = {part.cost_s, fraction_of_run(input.run, part.cost_s), "estimated"};
        finding.gain = {finding.cost.fraction, "estimated: each cycle has no more of it than the fastest tenth of like cycles"};
        if (part.cause == CycleCause::mpi) { // the part that is no even scatter
            const double loss_s = cycles.mean_s - cycles.attainable_s;
            const double certain_s = std::min(part.cost_s, part.cost_s * skew_s(cycles) / std::max(loss_s, 1e-12));
            finding.gain.at_least = fraction_of_run(input.run, certain_s);
            finding.gain.likely = finding.gain.at_least;
        }
        finding.subject.kind = "job";
        finding.subject.name = job_words(input.run, job);
        finding.subject.details["cause"] = std::string(name_of_cause(part.cause));
        add_evidence(cycles, part, finding);
        tell_thinning(job, finding);
        add_advice(part, finding);
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }

    static void add_evidence(const model::MpiCycles& cycles, const LostPart& part, Finding& finding) {
        finding.evidence["cycles_count"] = static_cast<int64_t>(cycles.count);
        finding.evidence["slow_cycles_count"] = static_cast<int64_t>(cycles.slow);
        finding.evidence["mean_cycle_seconds"] = cycles.mean_s;
        finding.evidence["least_cycle_seconds"] = cycles.least_s;
        finding.evidence["tenth_percentile_cycle_seconds"] = cycles.tenth_s;
        finding.evidence["median_cycle_seconds"] = cycles.median_s;
        finding.evidence["attainable_cycle_seconds"] = cycles.attainable_s;
        finding.evidence["lost_by_all_ranks_computing_ms"] = cycles.loss.work_s * 1e3;
        finding.evidence["lost_by_imbalance_ms"] = cycles.loss.imbalance_s * 1e3;
        finding.evidence["lost_without_cpu_ms"] = cycles.loss.without_cpu_s * 1e3;
        finding.evidence["lost_blocked_ms"] = cycles.loss.blocked_s * 1e3;
        finding.evidence["lost_waiting_for_messages_ms"] = cycles.loss.waiting_s * 1e3;
        finding.evidence["lost_in_mpi_ms"] = cycles.loss.mpi_s * 1e3;
        if (part.told_s > 0)
            finding.evidence["told_by_other_findings_seconds"] = part.told_s;
        if (cycles.look_s > 0)
            finding.evidence["scheduler_look_ms"] = cycles.look_s * 1e3;
    }

    static void add_advice(const LostPart& part, Finding& finding) {
        switch (part.cause) {
        case CycleCause::without_cpu:
            finding.advice.push_back({"Keep other programs off the ranks' CPUs",
                "another program or another rank had the CPU now and then: bind each rank to a core (mpirun --bind-to core, srun "
                "--cpu-bind=cores), confine the other programs to CPUs that the job does not use, or leave them one CPU of each node",
                "launch", ""});
            return;
        case CycleCause::blocked:
            finding.advice.push_back({"Let the others not wait for it",
                "a file, a lock or a sleep delays a rank in some cycles: do it less often, in a thread of its own, or while the other "
                "ranks continue; where files or locks are the reason, another finding names the line", "code", ""});
            return;
        case CycleCause::mpi:
            finding.advice.push_back({"Look at what shares the network, and at the progress of MPI",
                "the same operations take longer in some cycles though no rank is late: other jobs on the network, a library that "
                "makes progress only when it is called, or CPUs that go to sleep while ranks wait", "system", ""});
            return;
        }
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_cycle_variation() { return std::make_unique<CycleVariation>(); }

} // namespace plumb
