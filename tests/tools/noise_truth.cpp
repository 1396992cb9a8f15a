#include "noise_truth.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

namespace plumb::tools {

namespace {

using model::NoiseClass;
using Scope = NoiseClass::Scope;
using Shape = model::NoiseDuration::Shape;

constexpr double kFrequencyWithin = 0.02, kLengthWithin = 0.05;

NoiseClass periodic(std::string name, double length_ms, double period_ms, Scope scope = Scope::node,
                    model::NoiseNodes nodes = {}) {
    NoiseClass one;
    one.name = std::move(name);
    one.frequency_hz = 1e3 / period_ms;
    one.duration.mean_s = length_ms * 1e-3;
    one.scope = scope;
    one.nodes = std::move(nodes);
    return one;
}

bool is_close(double value, double truth, double within) {
    return std::abs(value - truth) <= within * truth;
}

double frequency_tolerance(const NoiseClass& truth, double events) {
    return truth.regularity == NoiseClass::Regularity::poisson ? std::max(kFrequencyWithin, 3 / std::sqrt(events))
                                                               : kFrequencyWithin;
}

std::string what_differs(const NoiseClass& truth, const NoiseClass& found, const model::NoiseMachine& machine, double events) {
    std::vector<std::string> all;
    if (truth.regularity != found.regularity)
        all.emplace_back("regularity");
    if (!is_close(found.frequency_hz, truth.frequency_hz, frequency_tolerance(truth, events)))
        all.push_back(fmt::format("F {:+.1f} %", 100 * (found.frequency_hz / truth.frequency_hz - 1)));
    if (!is_close(found.duration.mean_s, truth.duration.mean_s, kLengthWithin))
        all.push_back(fmt::format("L {:+.1f} %", 100 * (found.duration.mean_s / truth.duration.mean_s - 1)));
    for (uint32_t node = 0; node < machine.nodes; ++node)
        if (truth.nodes.contains(node) != found.nodes.contains(node)) {
            all.push_back(fmt::format("nodes, every {} {}", found.nodes.every, fmt::join(found.nodes.offsets, " ")));
            break;
        }
    if (truth.scope != found.scope && machine.cpus_per_node > 1 && truth.regularity == NoiseClass::Regularity::periodic)
        all.emplace_back("scope");
    if (truth.cpus != found.cpus && machine.cpus_per_node > 1)
        all.push_back(fmt::format("CPUs {}", fmt::join(found.cpus, " ")));
    if (truth.phase != found.phase && machine.nodes > 1)
        all.emplace_back("phase");
    return fmt::format("{}", fmt::join(all, ", "));
}

} // namespace

model::NoiseMachine published_machine(uint32_t nodes, Scope kernel_scope) {
    const auto of_cluster = [](uint32_t node) { return model::NoiseNodes{32, {node}}; };
    return {.name = "published machine",
            .nodes = nodes,
            .cpus_per_node = 4,
            .classes = {periodic("kernel heartbeat", 0.64, 125, kernel_scope),
                        periodic("kernel, slow", 0.35, 600, kernel_scope), periodic("resource manager, short", 15, 30'000),
                        periodic("resource manager, long", 18, 30'000),
                        periodic("node 1", 335, 60'000, Scope::node, of_cluster(1)),
                        periodic("node 31", 7, 1'000, Scope::node, of_cluster(31)),
                        periodic("node 0, 1", 200, 30'000, Scope::node, of_cluster(0)),
                        periodic("node 0, 2", 60, 10'000, Scope::node, of_cluster(0)),
                        periodic("node 0, 3", 25, 5'000, Scope::node, of_cluster(0)),
                        periodic("node 0, 4", 5, 2'000, Scope::node, of_cluster(0))}};
}

NoiseMeasurement random_measurement(uint64_t seed) {
    std::mt19937_64 random(seed * 7919 + 13);
    const auto below = [&](uint64_t end) { return random() % end; };
    const auto between = [&](double low, double high) { // evenly by their logarithm
        return low * std::pow(high / low, static_cast<double>(random() >> 11) * 0x1p-53);
    };
    NoiseMeasurement result;
    result.seed = seed;
    constexpr uint32_t kNodes[] = {1, 16, 48, 96, 128};
    constexpr uint32_t kCpus[] = {1, 2, 4, 8};
    constexpr uint32_t kPeriods[] = {0, 0, 16, 24};
    model::NoiseMachine& machine = result.machine;
    machine.nodes = kNodes[below(std::size(kNodes))];
    machine.cpus_per_node = kCpus[below(std::size(kCpus))];
    result.quanta = machine.nodes == 1 ? 10'000 : 40'000;
    const double measured_s = static_cast<double>(result.quanta) * result.quantum_s;
    const uint32_t every = kPeriods[below(std::size(kPeriods))];
    for (size_t count = below(6), index = 0; index < count; ++index) {
        NoiseClass one = periodic(fmt::format("class {}", index + 1), 0, between(8, measured_s * 1e3 / 6));
        const double period_s = one.mean_period_s();
        one.duration.mean_s = between(0.25e-3, std::min(0.2, 0.15 * period_s));
        if (below(3) == 0) {
            one.duration.shape = below(2) ? Shape::uniform : Shape::normal;
            one.duration.spread_s = one.duration.mean_s * between(0.06, 0.2);
        }
        if (below(3) == 0)
            one.jitter = between(0.002, 0.05);
        if (below(4) == 0)
            one.scope = Scope::cpu;
        else if (below(3) == 0)
            one.cpus = {static_cast<int>(below(machine.cpus_per_node))};
        if (below(4) == 0) {
            one.regularity = NoiseClass::Regularity::poisson;
            one.scope = Scope::node;
            one.jitter = 0;
        }
        if (every && machine.nodes >= 4 * every && below(2) == 0) {
            one.nodes = {every, {static_cast<uint32_t>(below(every))}};
            if (below(3) == 0 && one.nodes.offsets[0] + 1 < every)
                one.nodes.offsets.push_back(one.nodes.offsets[0] + 1);
        }
        if (machine.nodes > 1 && below(6) == 0)
            one.phase = NoiseClass::Phase::together;
        // Two classes that are as long and as frequent as one another are one.
        if (std::ranges::none_of(machine.classes, [&](const NoiseClass& other) {
                return is_close(one.duration.mean_s, other.duration.mean_s, 0.1) &&
                       is_close(one.frequency_hz, other.frequency_hz, 0.1);
            }))
            machine.classes.push_back(one);
    }
    result.background_loss = between(0.0005, 0.05);
    result.background_mean_s = between(20e-6, 80e-6);
    return result;
}

NoiseComparison compare_noise(const NoiseMeasurement& truth, const model::NoiseMachine& found) {
    NoiseComparison result{.true_classes = truth.machine.classes.size(),
                           .found_classes = found.classes.size(),
                           .recovered = 0,
                           .invented = 0,
                           .differences = {}};
    std::vector<bool> is_used(found.classes.size());
    for (const NoiseClass& one : truth.machine.classes) {
        size_t best = found.classes.size();
        double nearest = 0.7; // of a factor of two
        for (size_t index = 0; index < found.classes.size(); ++index) {
            const NoiseClass& other = found.classes[index];
            const double far = std::abs(std::log2(other.duration.mean_s / one.duration.mean_s)) +
                               std::abs(std::log2(other.frequency_hz / one.frequency_hz));
            if (!is_used[index] && far < nearest) {
                nearest = far;
                best = index;
            }
        }
        uint32_t nodes = 0;
        for (uint32_t node = 0; node < truth.machine.nodes; ++node)
            nodes += one.nodes.contains(node);
        const double events = one.frequency_hz * static_cast<double>(truth.quanta) * truth.quantum_s * nodes;
        const std::string what = fmt::format(
            "{:.4g} ms every {:.5g} ms ({} events{}{}{})", one.duration.mean_s * 1e3, one.mean_period_s() * 1e3,
            static_cast<uint64_t>(events), one.regularity == NoiseClass::Regularity::poisson ? ", random" : "",
            one.duration.shape == Shape::constant ? ""
                                                  : fmt::format(", spread {:.2f}", one.duration.spread_s / one.duration.mean_s),
            one.jitter > 0 ? fmt::format(", jitter {:.3f}", one.jitter) : "");
        if (best == found.classes.size()) {
            result.differences.push_back("missed: " + what);
            continue;
        }
        is_used[best] = true;
        const std::string differs = what_differs(one, found.classes[best], truth.machine, events);
        if (differs.empty())
            ++result.recovered;
        else
            result.differences.push_back(fmt::format("inexact: {}: {}", what, differs));
    }
    for (size_t index = 0; index < found.classes.size(); ++index)
        if (!is_used[index]) {
            ++result.invented;
            const auto& other = found.classes[index];
            result.differences.push_back(fmt::format("invented: {} ({} events, share {:.4f}, confidence {:.2f})", other.name,
                                                     other.events, other.loss_share, other.confidence));
        }
    return result;
}

} // namespace plumb::tools
