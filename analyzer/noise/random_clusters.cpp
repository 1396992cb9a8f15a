#include "noise/random_clusters.h"

#include "noise/duration_fit.h"
#include "noise/log_histogram.h"
#include "noise/node_pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace plumb::noise {

namespace {

using Level = LossStreams::Level;
using model::NoiseClass;

constexpr int kClusterBits = 6;
constexpr double kLeastEvidence = 30, kLeastEvents = 20;
constexpr double kMostAround = 0.2;    // of the events in a cluster: as many as its surroundings would have
constexpr double kLeastVariation = 0.75, kMostVariation = 1.35; // of intervals: 1 is a Poisson process
constexpr double kMostDispersion = 2.5; // variance of the nodes' counts against their mean: 1
constexpr size_t kLeastOfNode = 5, kMostClusters = 20;
constexpr double kSameLength = 0.05;

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

bool is_sum_of_known(double length_s, const std::vector<FoundClass>& known) {
    for (const FoundClass& first : known)
        for (const FoundClass& second : known) {
            const double sum_s = first.noise.duration.mean_s + second.noise.duration.mean_s;
            if (std::abs(length_s - sum_s) < kSameLength * sum_s)
                return true;
        }
    return false;
}

std::optional<FoundClass> cluster_of(LossStreams& streams, MachineSize machine, const HistogramPeak& peak) {
    std::vector<NodeEvents> nodes = events_in(streams, {peak.least, peak.most});
    choose_noisy(nodes, peak.expected / machine.nodes);
    if (!is_random(streams, nodes))
        return {};
    std::vector<bool> is_member(machine.nodes);
    for (const NodeEvents& node : nodes)
        is_member[node.node] = node.is_member;
    FoundClass result;
    result.noise.nodes = node_pattern(is_member);
    double members = 0;
    for (uint32_t node = 0; node < machine.nodes; ++node)
        members += result.noise.nodes.contains(node);
    std::map<int, double> on_cpu;
    std::vector<double> durations_s;
    std::vector<std::vector<double>> begins_s;
    for (const NodeEvents& node : nodes) {
        if (!result.noise.nodes.contains(node.node))
            continue;
        begins_s.emplace_back();
        for (const uint32_t loss : node.losses) {
            ++on_cpu[streams.streams(Level::cpu)[streams.cpu_stream_of(loss)].cpu];
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
        if (count >= 0.3 * events / machine.cpus_per_node)
            result.noise.cpus.push_back(cpu);
    if (result.noise.cpus.size() >= machine.cpus_per_node)
        result.noise.cpus.clear();
    result.noise.regularity = NoiseClass::Regularity::poisson;
    result.noise.scope = NoiseClass::Scope::node;
    result.noise.frequency_hz = events / (members * streams.measured_s());
    result.noise.duration = fit_duration(std::move(durations_s), streams.least_s());
    result.noise.phase = phase_of(begins_s, 1.25 * streams.grain_s(), streams.measured_s());
    result.noise.confidence = std::clamp(1 - peak.expected / peak.count, 0.0, 1.0);
    return result;
}

} // namespace

std::vector<FoundClass> take_random_clusters(LossStreams& streams, MachineSize machine, const std::vector<FoundClass>& known) {
    std::vector<FoundClass> found;
    double least_s = INFINITY, most_s = 0;
    for (uint32_t loss = 0; loss < streams.count(); ++loss)
        if (const double left_s = streams.left_s(loss); left_s > 0) {
            least_s = std::min(least_s, left_s);
            most_s = std::max(most_s, left_s);
        }
    if (most_s == 0)
        return found;
    LogHistogram lengths(least_s, 1.001 * most_s, kClusterBits);
    for (uint32_t loss = 0; loss < streams.count(); ++loss)
        lengths.add(streams.left_s(loss));
    for (const HistogramPeak& peak : lengths.peaks(0, {0.03, 0.1, 0.3, 0.6}, kLeastEvidence, kMostClusters)) {
        // Where the measurement itself cuts lengths off, everything piles up.
        if (peak.least - peak.width < least_s || peak.count < kLeastEvents || peak.expected > kMostAround * peak.count || is_sum_of_known(peak.mean, known))
            continue;
        if (auto one = cluster_of(streams, machine, peak))
            found.push_back(std::move(*one));
    }
    return found;
}

} // namespace plumb::noise
