#include "noise/random_clusters.h"

#include "noise/class_facts.h"
#include "noise/duration_fit.h"
#include "noise/known_events.h"
#include "noise/length_piles.h"
#include "noise/node_pattern.h"
#include "noise/other_losses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace plumb::noise {

namespace {

using Level = LossStreams::Level;
using model::NoiseClass;

constexpr double kLeastEvents = 20;
constexpr double kLeastVariation = 0.75, kMostVariation = 1.35; // of intervals: 1 is a Poisson process
constexpr double kMostDispersion = 2.5;                         // variance of the nodes' counts against their mean: 1
constexpr double kMostDispersionOfAll = 1.8, kMuchMore = 4;
constexpr size_t kLeastOfNode = 5, kMostClusters = 20;
constexpr double kOwnCpu = 0.3; // of the events that a CPU would have if all shared alike

struct NodeEvents {
    uint32_t node = 0;
    std::vector<uint32_t> losses; // by begin
    bool is_member = false;
};

std::vector<NodeEvents> events_in(const LossStreams& streams, LengthBand band) {
    std::vector<NodeEvents> all;
    for (const LossStream& stream : streams.streams(Level::node)) {
        NodeEvents events{stream.node, {}, false};
        for (size_t place = stream.begin; place < stream.end; ++place)
            if (const uint32_t loss = streams.at(Level::node, place); band.holds(streams.left_s(loss)))
                events.losses.push_back(loss);
        if (!events.losses.empty())
            all.push_back(std::move(events));
    }
    return all;
}

// Nodes with more events than the surroundings explain, by the likelihood of two rates.
void choose_noisy(std::vector<NodeEvents>& nodes, double expected_of_node) {
    double most = 0;
    for (const NodeEvents& node : nodes)
        most = std::max(most, static_cast<double>(node.losses.size()));
    const double quiet = std::max(expected_of_node, 0.01);
    for (int round = 0; round < 8; ++round) {
        const double border = most > quiet ? (most - quiet) / std::log(most / quiet) : most;
        double sum = 0, members = 0;
        for (NodeEvents& node : nodes) {
            node.is_member = static_cast<double>(node.losses.size()) >= border;
            sum += node.is_member ? static_cast<double>(node.losses.size()) : 0;
            members += node.is_member;
        }
        if (members == 0)
            return;
        most = sum / members;
    }
}

bool is_random(const LossStreams& streams, const std::vector<NodeEvents>& nodes) {
    double intervals = 0, squares = 0, sum = 0, sum_of_squares = 0, members = 0;
    for (const NodeEvents& node : nodes) {
        if (!node.is_member)
            continue;
        const auto count = static_cast<double>(node.losses.size());
        sum += count;
        sum_of_squares += count * count;
        ++members;
        if (node.losses.size() < kLeastOfNode)
            continue;
        const double mean_s = (streams.begin_s(node.losses.back()) - streams.begin_s(node.losses.front())) / (count - 1);
        for (size_t event = 1; event < node.losses.size(); ++event) {
            const double interval = (streams.begin_s(node.losses[event]) - streams.begin_s(node.losses[event - 1])) / mean_s;
            squares += (interval - 1) * (interval - 1) * (count - 1) / (count - 2); // the mean is that of the same intervals
            ++intervals;
        }
    }
    if (intervals >= kLeastEvents / 2) {
        const double variation = std::sqrt(squares / intervals);
        if (variation < kLeastVariation || variation > kMostVariation)
            return false;
    } else if (members < kLeastOfNode) {
        return false;
    }
    if (members < kLeastOfNode)
        return true;
    const double mean = sum / members;
    return sum_of_squares / members - mean * mean < kMostDispersion * mean;
}

// On which nodes: all, if as many events on each could be chance.
std::optional<model::NoiseNodes> noisy_nodes(const std::vector<NodeEvents>& nodes, MachineSize machine) {
    double sum = 0, sum_of_squares = 0, members = 0, of_members = 0;
    std::vector<bool> is_member(machine.nodes);
    for (const NodeEvents& node : nodes) {
        const auto count = static_cast<double>(node.losses.size());
        sum += count;
        sum_of_squares += count * count;
        is_member[node.node] = node.is_member;
        members += node.is_member;
        of_members += node.is_member ? count : 0;
    }
    const double mean = sum / machine.nodes;
    if (sum_of_squares / machine.nodes - mean * mean < kMostDispersionOfAll * mean)
        return model::NoiseNodes{};
    model::NoiseNodes result = node_pattern(is_member);
    if (result.every > 0 || result.offsets.empty())
        return result;
    const double others = machine.nodes > members ? (sum - of_members) / (machine.nodes - members) : 0;
    if (of_members < kLeastOfNode * members || of_members < kMuchMore * others * members)
        return {};
    return result;
}

std::optional<FoundClass> cluster_of(LossStreams& streams, MachineSize machine, const Pile& pile) {
    std::vector<NodeEvents> nodes = events_in(streams, pile.band);
    choose_noisy(nodes, pile.expected / machine.nodes);
    if (!is_random(streams, nodes))
        return {};
    const auto on_nodes = noisy_nodes(nodes, machine);
    if (!on_nodes)
        return {};
    FoundClass result;
    result.noise.nodes = *on_nodes;
    double members = 0;
    for (uint32_t node = 0; node < machine.nodes; ++node)
        members += result.noise.nodes.contains(node);
    std::map<int, double> on_cpu;
    std::vector<double> durations_s;
    std::vector<std::vector<double>> begins_s;
    std::vector<size_t> cpus;
    for (const NodeEvents& node : nodes) {
        if (!result.noise.nodes.contains(node.node))
            continue;
        begins_s.emplace_back();
        for (const uint32_t loss : node.losses) {
            cpus.push_back(streams.cpu_stream_of(loss));
            ++on_cpu[streams.streams(Level::cpu)[cpus.back()].cpu];
            durations_s.push_back(streams.left_s(loss));
            begins_s.back().push_back(streams.begin_s(loss));
            result.loss_s += streams.left_s(loss);
            streams.explain(loss, streams.left_s(loss));
            ++result.noise.events;
        }
    }
    if (result.noise.events == 0)
        return {};
    const auto events = static_cast<double>(result.noise.events);
    for (const auto& [cpu, count] : on_cpu)
        if (count >= kOwnCpu * events / machine.cpus_per_node)
            result.noise.cpus.push_back(cpu);
    if (!is_choice_of_cpus(result.noise.cpus.size(), machine.cpus_per_node, events))
        result.noise.cpus.clear();
    result.noise.regularity = NoiseClass::Regularity::poisson;
    result.noise.scope = NoiseClass::Scope::node;
    result.noise.duration = fit_duration(std::move(durations_s), streams.least_s());
    subtract_others(streams, result.noise.duration, pile.band, cpus);
    // Events that were summed with others are not among those counted.
    const double seen = share_undisturbed(streams, pile.band, result.noise.duration.mean_s, cpus);
    result.noise.frequency_hz =
        (events - std::min(pile.others, events / 2)) / (members * streams.measured_s() * std::max(seen, 0.1));
    result.noise.phase = phase_of(begins_s, 1.25 * streams.grain_s(), streams.measured_s());
    result.noise.confidence = std::clamp(1 - pile.expected / pile.count, 0.0, 1.0);
    return result;
}

} // namespace

std::vector<FoundClass> take_random_clusters(LossStreams& streams, MachineSize machine, const std::vector<FoundClass>& known) {
    std::vector<FoundClass> found, all = known;
    for (const Pile& pile : length_piles(streams)) {
        if (found.size() == kMostClusters)
            break;
        if (is_of_known_events(pile.band, pile.count, all, machine, streams.grain_s()))
            continue;
        if (auto one = cluster_of(streams, machine, pile)) {
            all.push_back(*one);
            found.push_back(std::move(*one));
        }
    }
    return found;
}

} // namespace plumb::noise
