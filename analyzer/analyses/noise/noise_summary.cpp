#include "analyses/noise/noise_summary.h"

#include "analyses/noise/noise_classes.h"
#include "analyses/noise/process_losses.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace plumb {

namespace {

using CulpritKind = NoiseCulprit::Kind;

constexpr double kNanosecond_s = 1e-9;
constexpr uint64_t kLeastWindow_ns = 500'000'000;
constexpr uint64_t kWindows = 20;
constexpr double kStandardErrors = 3;
constexpr uint64_t kMostOfOthers = 20; // the twentieth part
constexpr double kLeastInBursts = 0.9, kLeastKnown = 0.6; // of a process's losses; the latter: known to be its own one by one

double to_s(uint64_t ns) { return static_cast<double>(ns) * kNanosecond_s; }

void add_totals(NoiseSummary& summary, uint32_t node, const model::Host& host) {
    NoiseNodeLoss of_node{.node = node, .host = host.name, .lost_s = 0, .measured_s = 0, .fraction = 0};
    for (const model::MeasuredCpu& cpu : host.noise.cpus) {
        const double measured_s = to_s(cpu.measured_ns()), lost_s = to_s(cpu.lost_ns);
        summary.cpus.push_back({.node = node, .cpu = &cpu, .fraction = measured_s > 0 ? lost_s / measured_s : 0});
        of_node.lost_s += lost_s;
        of_node.measured_s += measured_s;
        summary.own_s += to_s(cpu.own_ns);
        summary.seconds = std::max(summary.seconds, measured_s);
        summary.quantum_s = std::max(summary.quantum_s, to_s(cpu.asked_ns));
        summary.floor_s = std::max(summary.floor_s, to_s(cpu.floor_ns));
        summary.left_out_s += to_s(cpu.left_out_ns);
        summary.unseen += cpu.unseen;
        summary.switches_seen &= cpu.switches_seen;
        summary.names_seen &= cpu.names_seen;
        for (size_t bin = 0; bin < cpu.counts.size(); ++bin) {
            summary.counts[bin] += static_cast<double>(cpu.counts[bin]);
            summary.times_s[bin] += to_s(cpu.times_ns[bin]);
        }
    }
    of_node.fraction = of_node.measured_s > 0 ? of_node.lost_s / of_node.measured_s : 0;
    summary.lost_s += of_node.lost_s;
    summary.measured_s += of_node.measured_s;
    summary.nodes.push_back(std::move(of_node));
}

// Where names follow from how long each process ran, short losses of others may be put down to it: the shortest ones, a twentieth
// of its time together, are no events.
std::vector<NoiseBurst> certain_bursts(const model::MeasuredNoise& noise, const std::string& group) {
    std::vector<NoiseBurst> bursts = bursts_of_process(noise, group);
    if (std::ranges::all_of(noise.cpus, &model::MeasuredCpu::names_seen))
        return bursts;
    std::vector<uint64_t> lengths_ns;
    uint64_t sum_ns = 0, short_ns = 0, least_ns = 0;
    for (const NoiseBurst& burst : bursts) {
        lengths_ns.push_back(burst.length_ns);
        sum_ns += burst.length_ns;
    }
    std::ranges::sort(lengths_ns);
    for (const uint64_t length_ns : lengths_ns)
        if ((short_ns += length_ns) <= sum_ns / kMostOfOthers)
            least_ns = length_ns + 1;
    std::erase_if(bursts, [&](const NoiseBurst& burst) { return burst.length_ns < least_ns; });
    return bursts;
}

NoiseCulprit process_culprit(const model::Run& run, const std::string& group) {
    NoiseCulprit culprit;
    culprit.kind = CulpritKind::process;
    culprit.name = group;
    std::set<int> cpus;
    double sum_s = 0, known_s = 0, squares = 0;
    size_t most = 0;
    for (const model::Host& host : run.hosts) {
        const std::vector<const model::MeasuredLoss*> losses = losses_to_process(host.noise, group);
        culprit.nodes += !losses.empty();
        for (const model::MeasuredLoss* loss : losses) {
            culprit.lost_s += to_s(loss->length_ns);
            cpus.insert(loss->cpu);
        }
        std::vector<NoiseBurst> bursts = certain_bursts(host.noise, group);
        leave_out_cut(bursts, host.noise);
        culprit.events += bursts.size();
        for (const NoiseBurst& burst : bursts) {
            sum_s += to_s(burst.length_ns);
            known_s += to_s(burst.known_ns);
            squares += to_s(burst.length_ns) * to_s(burst.length_ns);
            culprit.longest_ns = std::max(culprit.longest_ns, burst.length_ns);
        }
        if (bursts.size() <= most)
            continue;
        most = bursts.size(); // the rhythm is that of the node where most is known of it
        const BurstRhythm rhythm = rhythm_of(bursts);
        culprit.period_s = rhythm.period_s;
        culprit.is_regular = rhythm.is_regular;
    }
    culprit.cpus.assign(cpus.begin(), cpus.end());
    // Else it is not known how often, and for how long at a time.
    if (sum_s < kLeastInBursts * culprit.lost_s || known_s < kLeastKnown * culprit.lost_s) {
        culprit.events = culprit.longest_ns = 0;
        culprit.period_s = 0;
        culprit.is_regular = false;
        return culprit;
    }
    const auto events = static_cast<double>(std::max<uint64_t>(culprit.events, 1));
    culprit.length_s = sum_s / events;
    culprit.spread_s = std::sqrt(std::max(0.0, squares / events - culprit.length_s * culprit.length_s));
    return culprit;
}

// Of /proc/stat, which counts ticks whoever ran: the part that hit the quanta is that of the time that they ran.
double steal_of(const model::Host& host, const model::MeasuredCpu& cpu) {
    double steal_s = 0;
    for (const model::CpuInterval& interval : host.cpu_intervals)
        if (interval.cpu == cpu.cpu && interval.end_ns > cpu.begin_ns && interval.begin_ns < cpu.end_ns)
            steal_s += to_s(interval.steal_ns);
    const double on_cpu = cpu.measured_ns() > 0 ? 1 - to_s(cpu.preempted_ns) / to_s(cpu.measured_ns()) : 0;
    return steal_s * std::clamp(on_cpu, 0.0, 1.0);
}

// Losses to no process that has a name.
void add_others(NoiseSummary& summary, const model::Run& run, double named_s) {
    NoiseCulprit unnamed, steal, slower, small, unknown;
    unnamed.kind = CulpritKind::unnamed_process;
    steal.kind = CulpritKind::steal;
    steal.is_estimate = true;
    slower.kind = CulpritKind::slower;
    small.kind = CulpritKind::small;
    unknown.kind = CulpritKind::unknown;
    double preempted_s = 0;
    for (const model::Host& host : run.hosts)
        for (const model::MeasuredCpu& cpu : host.noise.cpus) {
            preempted_s += to_s(cpu.preempted_ns);
            slower.lost_s += to_s(cpu.slow_ns);
            small.lost_s += to_s(cpu.small_ns);
            const double rest_s = to_s(cpu.lost_ns) - to_s(cpu.preempted_ns) - to_s(cpu.slow_ns) - to_s(cpu.small_ns);
            const double stolen_s = std::clamp(steal_of(host, cpu), 0.0, std::max(0.0, rest_s));
            steal.lost_s += stolen_s;
            unknown.lost_s += std::max(0.0, rest_s - stolen_s);
        }
    for (const model::Host& host : run.hosts)
        for (const model::MeasuredLoss& loss : host.noise.losses)
            if (loss.cause == model::MeasuredLoss::Cause::unknown)
                ++unknown.events;
    unnamed.lost_s = std::max(0.0, preempted_s - named_s);
    for (NoiseCulprit* one : {&unnamed, &steal, &slower, &small, &unknown})
        if (one->lost_s > 0)
            summary.culprits.push_back(*one);
}

void find_culprits(NoiseSummary& summary, const model::Run& run) {
    std::set<std::string> groups;
    for (const model::Host& host : run.hosts)
        for (const std::string& group : process_groups(host.noise))
            groups.insert(group);
    double named_s = 0;
    for (const std::string& group : groups) {
        summary.culprits.push_back(process_culprit(run, group));
        named_s += summary.culprits.back().lost_s;
    }
    add_others(summary, run, named_s);
    for (NoiseCulprit& culprit : summary.culprits) {
        culprit.share = summary.lost_s > 0 ? culprit.lost_s / summary.lost_s : 0;
        culprit.fraction = summary.measured_s > 0 ? culprit.lost_s / summary.measured_s : 0;
        if (culprit.kind == CulpritKind::unknown)
            summary.unknown_share = culprit.share;
    }
    std::ranges::stable_sort(summary.culprits, std::greater<>(), &NoiseCulprit::lost_s);
}

void find_interrupts(NoiseSummary& summary, const model::Run& run) {
    struct Source {
        uint64_t count = 0;
        double seconds = 0;
        std::set<int> cpus;
    };
    std::map<std::string, Source> sources;
    for (const model::Host& host : run.hosts)
        for (const model::InterruptSource& source : host.interrupts)
            for (const model::MeasuredCpu& cpu : host.noise.cpus)
                if (cpu.cpu == source.cpu && source.count > 0) {
                    Source& known = sources[source.name];
                    known.count += source.count;
                    known.seconds += to_s(cpu.measured_ns());
                    known.cpus.insert(cpu.cpu);
                }
    for (const auto& [name, source] : sources)
        if (source.seconds > 0)
            summary.interrupts.push_back({.name = name, .rate_hz = static_cast<double>(source.count) / source.seconds,
                                          .cpus = {source.cpus.begin(), source.cpus.end()}});
    std::ranges::stable_sort(summary.interrupts, std::greater<>(), &NoiseInterrupts::rate_hz);
}

// By how much the mean of the losses without a known cause is uncertain: three standard errors, from how they differ between
// parts of the measurement.
double floor_fraction_of(const model::MeasuredNoise& noise, const model::MeasuredCpu& cpu) {
    const uint64_t window_ns = std::max(kLeastWindow_ns, cpu.measured_ns() / kWindows);
    const uint64_t windows = cpu.measured_ns() / window_ns;
    if (windows < 2)
        return 0;
    std::vector<double> lost(windows, 0);
    for (const model::MeasuredLoss& loss : noise.losses)
        if (loss.cpu == cpu.cpu && loss.cause == model::MeasuredLoss::Cause::unknown && loss.begin_ns >= cpu.begin_ns)
            if (const uint64_t window = (loss.begin_ns - cpu.begin_ns) / window_ns; window < windows)
                lost[window] += static_cast<double>(loss.length_ns) / static_cast<double>(window_ns);
    double mean = 0, squares = 0;
    for (const double part : lost)
        mean += part / static_cast<double>(windows);
    for (const double part : lost)
        squares += (part - mean) * (part - mean);
    return kStandardErrors * std::sqrt(squares / static_cast<double>(windows - 1) / static_cast<double>(windows));
}

} // namespace

NoiseSummary summarise_noise(const model::Run& run) {
    NoiseSummary summary;
    for (uint32_t node = 0; node < run.hosts.size(); ++node) {
        const model::Host& host = run.hosts[node];
        add_totals(summary, node, host);
        for (const model::MeasuredCpu& cpu : host.noise.cpus)
            summary.floor_fraction = std::max(summary.floor_fraction, floor_fraction_of(host.noise, cpu));
    }
    find_culprits(summary, run);
    find_interrupts(summary, run);
    find_noise_classes(run, summary);
    return summary;
}

} // namespace plumb
