#include "diagnoses/common/noise_makers.h"

#include "diagnoses/common/task_names.h"
#include "noise/takers.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastLoss = 0.005;       // of the run
constexpr double kLeastLoss_s = 0.01;
constexpr uint64_t kLeastPreemptions = 5;
constexpr double kMostOfACpu = 0.25;
constexpr size_t kMostNames = 3;

bool makes_noise(const model::NoiseTaker& taker, double elapsed_s) {
    const double cpus = std::max<double>(1, static_cast<double>(taker.losses.cpus_per_node) * taker.hosts);
    return taker.is_noise() && taker.preemptions >= kLeastPreemptions && taker.taken_s < kMostOfACpu * elapsed_s * cpus;
}

bool costs_enough(const model::Run& run, double lost_s) {
    return lost_s >= std::max(kLeastLoss * static_cast<double>(run.wall_ns()) * 1e-9, kLeastLoss_s);
}

// Seconds by which the last thread of a region was later than if none had lacked a CPU: most work less most CPU time, as
// (most - mean) of both and the difference of the means. Measured in some of the regions, for all that ended. A thread that was
// blocked has no CPU time either.
double late_without_cpu_s(const model::OmpRegion& region) {
    if (region.clocked_imbalance_ns <= region.cpu_imbalance_ns || region.clocked == 0 || region.parts.empty())
        return 0;
    uint64_t without_cpu_ns = 0;
    for (const model::OmpPart& part : region.parts)
        without_cpu_ns += part.clocked_ns - std::min(part.clocked_ns, part.cpu_ns);
    const double late_ns = static_cast<double>(region.clocked_imbalance_ns - region.cpu_imbalance_ns) +
                           static_cast<double>(without_cpu_ns) / static_cast<double>(region.parts.size());
    return late_ns * 1e-9 * static_cast<double>(region.ended) / static_cast<double>(region.clocked);
}

// Thread-seconds: on its CPUs, and in turns on those to which it drove threads.
double without_cpu_by(const model::NoiseTaker& taker) { return taker.taken_s + taker.displaced_s; }

uint32_t host_of(const model::Run& run, const model::Process& process) {
    for (uint32_t host = 0; host < run.hosts.size(); ++host)
        if (run.hosts[host].name == process.host)
            return host;
    return static_cast<uint32_t>(run.hosts.size());
}

std::vector<noise::WatchedThread> team_threads(const model::Run& run, uint32_t process) {
    std::set<uint32_t> threads;
    for (const model::OmpRegion& region : run.processes[process].openmp->regions)
        for (const model::OmpPart& part : region.parts)
            threads.insert(part.thread);
    std::vector<noise::WatchedThread> watched;
    for (const uint32_t thread : threads)
        watched.push_back({.process = process, .thread = thread, .host = host_of(run, run.processes[process])});
    return watched;
}

} // namespace

std::vector<const model::NoiseTaker*> noise_makers(const model::Run& run, const model::MpiJob& job) {
    std::vector<const model::NoiseTaker*> makers;
    if (!job.noise.replayed)
        return makers;
    for (const model::NoiseTaker& taker : job.noise.takers)
        if (makes_noise(taker, job.elapsed_s) && costs_enough(run, taker.lost_s))
            makers.push_back(&taker);
    return makers;
}

std::vector<TeamNoise> team_noises(const model::Run& run) {
    std::vector<TeamNoise> noises;
    for (uint32_t index = 0; index < run.processes.size(); ++index) {
        const model::Process& process = run.processes[index];
        if (!process.openmp || process.mpi)
            continue;
        TeamNoise team;
        team.process = index;
        team.elapsed_s = static_cast<double>(process.end_ns - std::min(process.end_ns, process.start_ns)) * 1e-9;
        double most_s = 0;
        for (const model::OmpRegion& region : process.openmp->regions) {
            const double lost_s = late_without_cpu_s(region);
            team.lost_s += lost_s;
            if (lost_s > most_s) {
                most_s = lost_s;
                team.region = &region;
            }
        }
        if (!costs_enough(run, team.lost_s))
            continue;
        noise::FoundTakers found = noise::find_takers(run, team_threads(run, index));
        double without_cpu_s = 0;
        for (const model::NoiseTaker& taker : found.takers)
            without_cpu_s += without_cpu_by(taker);
        team.lost_s = std::min(team.lost_s, without_cpu_s); // the rest was blocked
        for (model::NoiseTaker& taker : found.takers) {
            taker.lost_s = team.lost_s * without_cpu_by(taker) / without_cpu_s;
            if (makes_noise(taker, team.elapsed_s) && costs_enough(run, taker.lost_s))
                team.makers.push_back(std::move(taker));
        }
        if (!team.makers.empty())
            noises.push_back(std::move(team));
    }
    return noises;
}

// Each alone gains less than its share where two of them delay the same collective, or more where one hides behind the other.
double noise_seconds(const model::Run& run, const model::MpiJob& job) {
    double sum_s = 0;
    for (const model::NoiseTaker* taker : noise_makers(run, job))
        sum_s += taker->lost_s;
    return std::min(sum_s, job.noise.lost_s);
}

double noise_seconds(const model::Run& run) {
    double most_s = 0;
    for (const model::MpiJob& job : run.mpi_jobs)
        most_s = std::max(most_s, noise_seconds(run, job));
    for (const TeamNoise& team : team_noises(run)) {
        double sum_s = 0;
        for (const model::NoiseTaker& taker : team.makers)
            sum_s += taker.lost_s;
        most_s = std::max(most_s, sum_s);
    }
    return most_s;
}

double sharing_seconds(const model::Run& run, const model::Host& host) {
    const auto index = static_cast<uint32_t>(&host - run.hosts.data());
    double most_s = 0;
    for (const model::MpiJob& job : run.mpi_jobs) {
        if (!job.noise.replayed)
            continue;
        double sum_s = 0;
        for (const model::NoiseTaker& taker : job.noise.takers)
            if (taker.kind == model::NoiseTaker::Kind::programs && taker.host == index && !makes_noise(taker, job.elapsed_s))
                sum_s += taker.lost_s;
        most_s = std::max(most_s, std::min(sum_s, job.noise.lost_s));
    }
    return most_s;
}

std::string maker_words(const model::NoiseTaker& taker) {
    if (taker.names.empty())
        return "another program";
    if (taker.names.size() == 1)
        return taker.names[0];
    if (taker.names.size() > kMostNames)
        return fmt::format("{} and {} other programs", taker.names[0], taker.names.size() - 1);
    return fmt::format("{} and {}", fmt::join(taker.names.begin(), taker.names.end() - 1, ", "), taker.names.back());
}

std::string taken_cpus_words(const model::NoiseTaker& taker) {
    if (taker.hosts > 1)
        return fmt::format("CPUs of {} nodes", taker.hosts);
    return cpu_names(taker.cpus);
}

} // namespace plumb
