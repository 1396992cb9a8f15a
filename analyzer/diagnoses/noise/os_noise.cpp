// Programs and helper threads that take a CPU from a rank, or from a thread of a team of OpenMP, again and again, so that all
// others wait for it: one's loss is everybody's.
//
// Who took a CPU and when is recorded by the kernel and by looks at other programs (noise/takers.h). What it costs is found by
// replaying the collectives without it (replay/noise/lost_time.h); of a team, by the CPU time of its threads in each region.
#include "analyses/lines/launch_command.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/noise/stolen_time.h"
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"
#include "noise/bursts.h"
#include "noise/event_length.h"
#include "noise/find_classes.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace plumb {

namespace {

constexpr size_t kMostNoiseFindings = 4, kMostClasses = 3;
constexpr double kMainClass = 0.5, kNearlyAll = 0.8; // of what this program takes
constexpr double kWellRecorded = 0.9;
constexpr double kMuchStolen = 0.01;   // of the ranks' CPUs
constexpr size_t kMostSources = 3;

using Taker = model::NoiseTaker;

std::vector<model::NoiseClass> classes_of(const Taker& taker) {
    std::vector<model::NoiseClass> classes = noise::find_classes(noise::join_bursts(taker.losses)).classes;
    if (classes.size() > kMostClasses)
        classes.resize(kMostClasses);
    if (!classes.empty() && classes[0].loss_share >= kNearlyAll && taker.names.size() == 1)
        classes[0].duration.mean_s = noise::event_length_s(taker, classes[0]);
    return classes;
}

// "for 20 ms every 500 ms", else how often and how long on average.
std::string how_often(const Taker& taker, const std::vector<model::NoiseClass>& classes, double elapsed_s) {
    if (!classes.empty() && classes[0].loss_share >= kMainClass)
        return fmt::format("for {} every {}{}", format_seconds(classes[0].duration.mean_s),
                           classes[0].regularity == model::NoiseClass::Regularity::poisson ? "about " : "",
                           format_seconds(classes[0].mean_period_s()));
    const size_t events = noise::join_bursts(taker.losses).losses.size();
    const double mean_s = taker.taken_s / static_cast<double>(std::max<size_t>(events, 1));
    return fmt::format("for {} on average, {} times in {}", format_seconds(mean_s), format_count(static_cast<double>(events)),
                       format_seconds(elapsed_s));
}

// CPUs of the taker's host that no thread of the run ran on.
model::CpuSet unused_cpus(const model::Run& run, const Taker& taker) {
    model::CpuSet used, unused;
    for (const model::Process& process : run.processes)
        if (taker.host < run.hosts.size() && process.host == run.hosts[taker.host].name)
            for (const model::Thread& thread : process.threads)
                for (const model::ThreadInterval& interval : thread.intervals)
                    used.push_back(interval.cpu);
    std::ranges::sort(used);
    if (taker.host < run.hosts.size())
        std::ranges::set_difference(run.hosts[taker.host].allowed_cpus, used, std::back_inserter(unused));
    return unused;
}

std::vector<Advice> programs_advice(const model::Run& run, const Taker& taker) {
    std::vector<Advice> advice;
    const model::CpuSet unused = unused_cpus(run, taker);
    const std::string name = maker_words(taker);
    Advice move{"Keep it off the job's CPUs",
                unused.empty() ? fmt::format("the job uses all CPUs of the node: stop {} during the job, let it run less often, or let "
                                             "the job use one CPU a node less and confine {} to that one",
                                             name, taker.names.size() == 1 ? "it" : "them")
                               : fmt::format("no thread of the job ran on CPU {}: confine {} to it (taskset, or CPUAffinity= of its systemd unit)",
                                             unused[0], name),
                "system", ""};
    if (!unused.empty() && taker.pids.size() == 1 && taker.hosts == 1)
        move.command = shell_line({"taskset", "-a", "-c", "-p", std::to_string(unused[0]), std::to_string(taker.pids[0])});
    advice.push_back(std::move(move));
    return advice;
}

std::vector<Advice> own_thread_advice(const Taker& taker) {
    return {{"Give helper threads CPUs of their own",
             fmt::format("{} belongs to the job: pin it to a CPU that nothing else uses, or switch it off (progress threads of MPI, thread "
                         "pools of libraries)",
                         maker_words(taker)),
             "launch", ""}};
}

class OsNoise : public Diagnosis {
  public:
    const char* id() const override { return "os-noise"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs)
            for (const Taker* taker : noise_makers(input.run, job))
                if (findings.size() < kMostNoiseFindings)
                    findings.push_back(of_ranks(input, job, *taker));
        for (const TeamNoise& team : team_noises(input.run))
            for (const Taker& taker : team.makers)
                if (findings.size() < kMostNoiseFindings)
                    findings.push_back(of_team(input, team, taker));
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            const StolenTime stolen = stolen_time(input.run, job);
            if (job.size > 1 && stolen.steal_share() >= kMuchStolen)
                findings.push_back(by_hypervisor(input, job, stolen));
            if (job.size > 1 && stolen.interrupt_share() >= kMuchStolen)
                findings.push_back(by_interrupts(input, job, stolen));
        }
        return findings;
    }

  private:
    // `whose`: CPUs were taken, and how long that went on.
    static Finding base(const DiagnosisInput& input, const Taker& taker, const char* whose, double elapsed_s, double recorded_share) {
        const std::vector<model::NoiseClass> classes = classes_of(taker);
        const bool is_outside = taker.kind == Taker::Kind::programs;
        Finding finding;
        finding.id = "os-noise";
        finding.title = fmt::format("{} {} {} from the {} {}: all of them wait for that", maker_words(taker),
                                    taker.names.size() > 1 ? "take" : "takes", taken_cpus_words(taker), whose,
                                    how_often(taker, classes, elapsed_s));
        finding.confidence = (!is_outside ? 0.95 : taker.names.size() == 1 ? 0.9 : 0.7) *
                             (recorded_share >= kWellRecorded ? 1 : 0.8);
        finding.cost = {taker.lost_s, fraction_of_run(input.run, taker.lost_s), "estimated"};
        finding.subject.kind = is_outside ? "daemon" : "thread";
        finding.subject.name = taker.names.empty() ? "" : taker.names[0];
        describe(taker, classes, elapsed_s, finding);
        finding.advice = is_outside ? programs_advice(input.run, taker) : own_thread_advice(taker);
        return finding;
    }

    static Finding of_ranks(const DiagnosisInput& input, const model::MpiJob& job, const Taker& taker) {
        Finding finding = base(input, taker, "ranks", job.elapsed_s, job.noise.recorded_share);
        finding.gain = {finding.cost.fraction,
                        fmt::format("estimated by replaying the collectives of all ranks without the {} in which {} had the CPU of a rank{}",
                                    counted(taker.preemptions, "interval", "intervals"), maker_words(taker),
                                    taker.displaced_s > 0 ? ", and without the turns that ranks took on another CPU because of it" : "")};
        if (const model::MpiCallSite* site = most_waited(job)) {
            LineShares lines;
            add_call_site(input.paths, *site, site->wait_s, lines);
            finding.where = lines.heaviest(1);
        }
        finding.evidence["recorded_fraction"] = job.noise.recorded_share;
        finding.evidence["interval_mean_ms"] = job.granularity.mean_s * 1e3;
        return finding;
    }

    static Finding of_team(const DiagnosisInput& input, const TeamNoise& team, const Taker& taker) {
        Finding finding = base(input, taker, "team of OpenMP", team.elapsed_s, 1);
        finding.gain = {finding.cost.fraction,
                        fmt::format("estimated: the team waits {} at the ends of its regions for threads that had no CPU, {} of it by this",
                                    format_seconds(team.lost_s), format_fraction(taker.lost_s / team.lost_s))};
        Finding of_region;
        describe_region(input.paths, {team.process, team.region}, of_region);
        finding.where = std::move(of_region.where);
        finding.evidence["team_lost_seconds"] = team.lost_s;
        return finding;
    }

    static Finding outside_of_scheduler(const DiagnosisInput& input, const model::MpiJob& job, double stolen_s, double share) {
        Finding finding;
        finding.id = "os-noise";
        finding.confidence = 0.6;
        const double most_s = most_lost_s(job, stolen_s);
        finding.cost = {most_s, fraction_of_run(input.run, most_s), "bound"};
        finding.gain = {.fraction = finding.cost.fraction,
                        .how = "upper bound: as if no two ranks were held up at the same time; when it happened is not recorded",
                        .at_least = 0,
                        .is_at_most = true};
        finding.evidence["stolen_cpu_seconds"] = stolen_s;
        finding.evidence["stolen_fraction"] = share;
        finding.evidence["interval_mean_ms"] = job.granularity.mean_s * 1e3;
        return finding;
    }

    static Finding by_hypervisor(const DiagnosisInput& input, const model::MpiJob& job, const StolenTime& stolen) {
        Finding finding = outside_of_scheduler(input, job, stolen.steal_s, stolen.steal_share());
        finding.title = fmt::format("The hypervisor takes {} of the time of the ranks' CPUs, and all ranks wait for those that it holds up",
                                    format_fraction(stolen.steal_share()));
        finding.subject.kind = "daemon";
        finding.subject.name = "hypervisor";
        finding.advice = {{"Use virtual CPUs that are not shared",
                           "ask for dedicated or pinned CPUs, or for fewer virtual CPUs than the host has real ones", "system", ""}};
        return finding;
    }

    static Finding by_interrupts(const DiagnosisInput& input, const model::MpiJob& job, const StolenTime& stolen) {
        Finding finding = outside_of_scheduler(input, job, stolen.interrupt_s, stolen.interrupt_share());
        std::string names;
        for (size_t i = 0; i < std::min(kMostSources, stolen.sources.size()); ++i)
            names += fmt::format("{}{} ({} a second)", i ? ", " : "", stolen.sources[i].first, format_count(stolen.sources[i].second));
        finding.title = fmt::format("Interrupts take {} of the time of the ranks' CPUs, and all ranks wait for those that they hold up",
                                    format_fraction(stolen.interrupt_share()));
        finding.subject.kind = "device";
        finding.subject.name = stolen.sources.empty() ? "" : stolen.sources[0].first;
        finding.subject.details["most_frequent"] = names;
        finding.advice = {{"Send the interrupts elsewhere",
                           fmt::format("the most frequent on these CPUs are {}: set their affinity to CPUs that no rank uses "
                                       "(/proc/irq/N/smp_affinity_list, irqbalance's list of banned CPUs)", names),
                           "system", ""}};
        return finding;
    }

    static const model::MpiCallSite* most_waited(const model::MpiJob& job) {
        const auto most = std::ranges::max_element(job.sites, {}, &model::MpiCallSite::wait_s);
        return most == job.sites.end() || most->wait_s <= 0 ? nullptr : &*most;
    }

    static void describe(const Taker& taker, const std::vector<model::NoiseClass>& classes, double elapsed_s, Finding& finding) {
        finding.subject.details["programs"] = taker.names;
        finding.subject.details["pids"] = std::vector<int64_t>(taker.pids.begin(), taker.pids.end());
        finding.subject.details["cpus"] = std::vector<int64_t>(taker.cpus.begin(), taker.cpus.end());
        finding.evidence["node_count"] = static_cast<int64_t>(taker.hosts);
        finding.evidence["preemption_count"] = static_cast<int64_t>(taker.preemptions);
        finding.evidence["taken_thread_seconds"] = taker.taken_s;
        finding.evidence["taken_fraction"] = taker.taken_s / std::max(1e-9, elapsed_s); // of one CPU
        if (taker.displaced_s > 0)
            finding.evidence["displaced_thread_seconds"] = taker.displaced_s;
        if (taker.kind == Taker::Kind::programs)
            finding.evidence["programs_cpu_seconds"] = taker.programs_cpu_s;
        for (size_t i = 0; i < classes.size(); ++i) {
            const std::string key = i == 0 ? "class" : fmt::format("class_{}", i + 1);
            finding.evidence[key + "_period_ms"] = classes[i].mean_period_s() * 1e3;
            finding.evidence[key + "_duration_ms"] = classes[i].duration.mean_s * 1e3;
            finding.evidence[key + "_event_count"] = static_cast<int64_t>(classes[i].events);
            finding.evidence[key + "_loss_fraction"] = classes[i].loss_share;
        }
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_os_noise() { return std::make_unique<OsNoise>(); }

} // namespace plumb
