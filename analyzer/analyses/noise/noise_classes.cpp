#include "analyses/noise/noise_classes.h"

#include "analyses/noise/bursts.h"
#include "analyses/noise/process_losses.h"
#include "noise/find_classes.h"
#include "support/softirqs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostProcesses = 12; // whose classes are looked for
constexpr uint64_t kFewestEvents = 8;
constexpr double kSameRate = 0.03;

double since_s(uint64_t time_ns, const model::MeasuredNoise& noise) {
    uint64_t begin_ns = UINT64_MAX;
    for (const model::MeasuredCpu& cpu : noise.cpus)
        begin_ns = std::min(begin_ns, cpu.begin_ns);
    return static_cast<double>(time_ns - std::min(time_ns, begin_ns)) * 1e-9;
}

model::NoiseLosses empty_losses(const model::Run& run, const NoiseSummary& summary) {
    model::NoiseLosses losses;
    losses.nodes = static_cast<uint32_t>(summary.nodes.size());
    losses.measured_s = summary.seconds;
    for (const model::Host& host : run.hosts)
        losses.cpus_per_node = std::max(losses.cpus_per_node, static_cast<uint32_t>(host.noise.cpus.size()));
    return losses;
}

void sort_losses(model::NoiseLosses& losses) {
    std::ranges::sort(losses.losses, [](const model::NoiseLoss& left, const model::NoiseLoss& right) {
        return std::tie(left.node, left.cpu, left.begin_s) < std::tie(right.node, right.cpu, right.begin_s);
    });
}

model::NoiseLosses losses_of_process(const model::Run& run, const NoiseSummary& summary, const std::string& name) {
    model::NoiseLosses losses = empty_losses(run, summary);
    for (uint32_t node = 0; node < run.hosts.size(); ++node)
        for (const NoiseBurst& burst : bursts_of_process(run.hosts[node].noise, name))
            losses.losses.push_back({node, burst.cpu, since_s(burst.begin_ns, run.hosts[node].noise),
                                     static_cast<double>(burst.length_ns) * 1e-9});
    sort_losses(losses);
    return losses;
}

model::NoiseLosses losses_of_nobody(const model::Run& run, const NoiseSummary& summary) {
    model::NoiseLosses losses = empty_losses(run, summary);
    for (uint32_t node = 0; node < run.hosts.size(); ++node) {
        const model::MeasuredNoise& noise = run.hosts[node].noise;
        for (const model::MeasuredLoss& loss : noise.losses)
            if (loss.cause == model::MeasuredLoss::Cause::unknown)
                losses.losses.push_back({node, loss.cpu, since_s(loss.begin_ns, noise), static_cast<double>(loss.length_ns) * 1e-9});
        for (const model::MeasuredCpu& cpu : noise.cpus)
            losses.least_s = std::max(losses.least_s, static_cast<double>(cpu.least_ns) * 1e-9);
    }
    std::erase_if(losses.losses, [&](const model::NoiseLoss& loss) { return loss.length_s < losses.least_s; });
    sort_losses(losses);
    return losses;
}

// The only one that comes as often; empty: none, or several.
std::string interrupt_of(const model::NoiseClass& found, const NoiseSummary& summary, bool softirqs) {
    std::string name;
    for (const NoiseInterrupts& source : summary.interrupts) {
        if (is_softirq(source.name) != softirqs)
            continue;
        const bool is_here = found.cpus.empty() || std::ranges::includes(source.cpus, found.cpus);
        if (!is_here || std::abs(source.rate_hz - found.frequency_hz) > kSameRate * found.frequency_hz)
            continue;
        if (!name.empty())
            return "";
        name = source.name;
    }
    return name;
}

// Most softirqs are raised by an interrupt, and come as often: they are asked where no interrupt does.
std::string interrupt_of(const model::NoiseClass& found, const NoiseSummary& summary) {
    if (found.scope != model::NoiseClass::Scope::cpu)
        return "";
    const std::string hard = interrupt_of(found, summary, false);
    return hard.empty() ? interrupt_of(found, summary, true) : hard;
}

} // namespace

void find_noise_classes(const model::Run& run, NoiseSummary& summary) {
    std::set<std::string> names;
    const auto take = [&](const noise::FoundNoise& found, const std::string& group) {
        for (model::NoiseClass one : found.machine.classes) {
            one.group = group.empty() ? interrupt_of(one, summary) : group;
            const std::string base = one.group.empty() ? one.name : one.group + ", " + one.name;
            one.name = base;
            for (int copy = 2; !names.insert(one.name).second; ++copy)
                one.name = fmt::format("{} ({})", base, copy);
            one.loss_share = summary.lost_s > 0 ? std::min(1.0, one.loss_share * found.loss_s / summary.lost_s) : 0;
            summary.machine.classes.push_back(std::move(one));
        }
    };
    size_t processes = 0;
    for (const NoiseCulprit& culprit : summary.culprits)
        if (culprit.kind == NoiseCulprit::Kind::process && processes < kMostProcesses)
            if (const model::NoiseLosses losses = losses_of_process(run, summary, culprit.name);
                losses.losses.size() >= kFewestEvents) {
                take(noise::find_noise(losses), culprit.name);
                ++processes;
            }
    if (const model::NoiseLosses losses = losses_of_nobody(run, summary); losses.losses.size() >= kFewestEvents)
        take(noise::find_noise(losses), "");
    std::ranges::stable_sort(summary.machine.classes, std::greater<>(), &model::NoiseClass::loss_share);
    summary.machine.nodes = static_cast<uint32_t>(summary.nodes.size());
    summary.machine.cpus_per_node = empty_losses(run, summary).cpus_per_node;
    summary.machine.name = summary.nodes.size() == 1 ? summary.nodes.front().host : "";
}

} // namespace plumb
