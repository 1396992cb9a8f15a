// A job that uses every CPU of its nodes leaves the system none to run on: whatever the system does interrupts a rank. With one
// rank a node less its work takes n / (n - 1) as long, and the noise goes to the CPU that is left free.
//
// Reported where the second outweighs the first at the noise that was measured. The work is taken to divide among fewer ranks as
// it does among all, and not to be limited by memory, which fewer ranks would use no slower.
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace plumb {

namespace {

constexpr double kLeastSpareGain = 0.01; // of the run
constexpr double kMostOfTheSpareCpu = 0.9; // that what makes the noise may need

// Ranks on each node, where all nodes have one for each CPU of theirs and as many as one another.
std::optional<int> ranks_on_full_nodes(const model::Run& run, const model::MpiJob& job) {
    std::map<uint32_t, int> ranks;
    for (const model::MpiRankRow& row : job.ranks)
        ++ranks[row.host];
    std::optional<int> each;
    for (const auto& [host, count] : ranks) {
        if (host >= run.hosts.size())
            return std::nullopt;
        const model::Host& of = run.hosts[host];
        const int cpus = of.allowed_cpus.empty() ? of.cpu_count : static_cast<int>(of.allowed_cpus.size());
        if (count != cpus || each.value_or(count) != count)
            return std::nullopt;
        each = count;
    }
    return each;
}

class SpareCpu : public Diagnosis {
  public:
    const char* id() const override { return "spare-cpu"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            const std::optional<int> ranks = ranks_on_full_nodes(input.run, job);
            const std::vector<const model::NoiseTaker*> makers = noise_makers(input.run, job);
            if (!ranks || *ranks < 2 || makers.empty() || job.elapsed_s <= 0)
                continue;
            double taken_s = 0; // of all nodes
            for (const model::NoiseTaker* maker : makers)
                taken_s += maker->taken_s;
            const double nodes = static_cast<double>(job.ranks.size()) / *ranks;
            const double quiet_s = job.elapsed_s - noise_seconds(input.run, job);
            const double spare_s = quiet_s * *ranks / (*ranks - 1);
            const double gain = fraction_of_run(input.run, job.elapsed_s - spare_s);
            if (gain >= kLeastSpareGain && taken_s <= kMostOfTheSpareCpu * nodes * job.elapsed_s)
                findings.push_back(finding_of(input, job, *ranks, quiet_s, spare_s));
        }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, int ranks, double quiet_s, double spare_s) const {
        const double lost_s = job.elapsed_s - quiet_s;
        Finding finding;
        finding.id = id();
        finding.title = fmt::format("The job loses {} to noise on nodes whose {} CPUs it uses all: {} ranks a node would be faster",
                                    format_fraction(fraction_of_run(input.run, lost_s)), ranks, ranks - 1);
        finding.confidence = 0.7;
        finding.cost = {lost_s, fraction_of_run(input.run, lost_s), "estimated"};
        finding.gain = {fraction_of_run(input.run, job.elapsed_s - spare_s),
                        fmt::format("estimated: the job without its noise takes {}, and {}/{} times as long on a CPU a node less",
                                    format_seconds(quiet_s), ranks, ranks - 1)};
        finding.gain.at_least = 0; // that the work divides so is not known
        finding.subject.kind = "node";
        finding.subject.name = input.run.hosts[job.ranks[0].host].name;
        finding.evidence["ranks_per_node_count"] = static_cast<int64_t>(ranks);
        finding.evidence["noise_seconds"] = lost_s;
        finding.evidence["with_spare_cpu_seconds"] = spare_s;
        finding.evidence["break_even_fraction"] = 1.0 / ranks;
        finding.advice = {{"Leave one CPU of each node to the system",
                           fmt::format("start {} ranks a node (mpirun --map-by ppr:{}:node, srun --ntasks-per-node={}, or Slurm's core "
                                       "specialisation) and confine what makes the noise to the CPU that is left",
                                       ranks - 1, ranks - 1, ranks - 1),
                           "launch", ""}};
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_spare_cpu() { return std::make_unique<SpareCpu>(); }

} // namespace plumb
