#include "analyses/noise/bursts.h"

#include "noise/bursts.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr size_t kFewestWhole = 5;
constexpr double kWhole = 0.9; // of the usual length
constexpr double kRegularWithin = 0.1; // of the median distance
constexpr size_t kFewestBursts = 3, kFewestRegular = 6; // of fewer a rhythm may be chance

} // namespace

ProgramTime::ProgramTime(const model::MeasuredNoise& noise) {
    for (const model::MeasuredLoss& loss : noise.losses) { // by CPU, then time
        Losses& cpu = cpus_[loss.cpu];
        const uint64_t before_ns = cpu.sums_ns.empty() ? 0 : cpu.sums_ns.back();
        cpu.begins_ns.push_back(loss.begin_ns);
        cpu.sums_ns.push_back(before_ns + loss.length_ns);
    }
}

uint64_t ProgramTime::Losses::until_ns(uint64_t time_ns) const {
    const auto behind = static_cast<size_t>(std::ranges::lower_bound(begins_ns, time_ns) - begins_ns.begin());
    return behind == 0 ? 0 : sums_ns[behind - 1];
}

uint64_t ProgramTime::between_ns(int cpu, uint64_t begin_ns, uint64_t end_ns) const {
    if (end_ns <= begin_ns)
        return 0;
    const auto losses = cpus_.find(cpu);
    const uint64_t lost_ns = losses == cpus_.end() ? 0 : losses->second.until_ns(end_ns) - losses->second.until_ns(begin_ns);
    return end_ns - begin_ns - std::min(lost_ns, end_ns - begin_ns);
}

std::vector<NoiseBurst> bursts_of(std::span<const model::MeasuredLoss* const> losses, const ProgramTime& program) {
    using Place = noise::SliceFollower::Place;
    std::vector<NoiseBurst> bursts;
    noise::SliceFollower follower;
    for (const model::MeasuredLoss* loss : losses) {
        const uint64_t loss_end_ns = loss->begin_ns + loss->length_ns;
        const uint64_t known_ns = loss->cause == model::MeasuredLoss::Cause::process ? loss->length_ns : 0;
        const uint64_t end_ns = bursts.empty() ? 0 : bursts.back().end_ns;
        const Place place = follower.next(static_cast<double>(program.between_ns(loss->cpu, end_ns, loss->begin_ns)) * 1e-9,
                                          static_cast<double>(loss->length_ns) * 1e-9);
        if (place == Place::begins) {
            bursts.push_back({loss->cpu, loss->begin_ns, loss_end_ns, loss->length_ns, known_ns});
            continue;
        }
        if (place == Place::goes_on)
            bursts.back().end_ns = std::max(end_ns, loss_end_ns);
        bursts.back().length_ns += loss->length_ns;
        bursts.back().known_ns += known_ns;
    }
    return bursts;
}

void leave_out_cut(std::vector<NoiseBurst>& bursts, const model::MeasuredNoise& noise) {
    if (bursts.size() < kFewestWhole)
        return;
    std::vector<uint64_t> lengths_ns;
    for (const NoiseBurst& burst : bursts)
        lengths_ns.push_back(burst.length_ns);
    std::ranges::sort(lengths_ns);
    const uint64_t usual_ns = lengths_ns[lengths_ns.size() / 2];
    std::erase_if(bursts, [&](const NoiseBurst& burst) {
        const auto cpu = std::ranges::find(noise.cpus, burst.cpu, &model::MeasuredCpu::cpu);
        return cpu != noise.cpus.end() && static_cast<double>(burst.length_ns) < kWhole * static_cast<double>(usual_ns) &&
               (burst.begin_ns < cpu->begin_ns + 2 * usual_ns || burst.end_ns + 2 * usual_ns > cpu->end_ns);
    });
}

BurstRhythm rhythm_of(std::span<const NoiseBurst> bursts) {
    BurstRhythm rhythm;
    if (bursts.empty())
        return rhythm;
    double sum_s = 0, squares = 0;
    for (const NoiseBurst& burst : bursts) {
        const double length_s = static_cast<double>(burst.length_ns) * 1e-9;
        sum_s += length_s;
        squares += length_s * length_s;
    }
    const auto count = static_cast<double>(bursts.size());
    rhythm.mean_s = sum_s / count;
    rhythm.spread_s = std::sqrt(std::max(0.0, squares / count - rhythm.mean_s * rhythm.mean_s));
    if (bursts.size() < kFewestBursts)
        return rhythm;
    std::vector<double> distances_s;
    for (size_t i = 1; i < bursts.size(); ++i)
        distances_s.push_back(static_cast<double>(bursts[i].begin_ns - bursts[i - 1].begin_ns) * 1e-9);
    std::ranges::sort(distances_s);
    rhythm.period_s = distances_s[distances_s.size() / 2];
    const auto near = std::ranges::count_if(distances_s, [&](double distance_s) {
        return std::abs(distance_s - rhythm.period_s) <= kRegularWithin * rhythm.period_s;
    });
    rhythm.is_regular = static_cast<size_t>(near) * 2 >= distances_s.size() && bursts.size() >= kFewestRegular;
    return rhythm;
}

} // namespace plumb
