#include "noise/random_clusters.h"

#include "noise/duration_fit.h"
#include "noise/known_events.h"
#include "noise/node_pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace plumb::noise {

namespace {

using Level = LossStreams::Level;
using model::NoiseClass;

constexpr double kLeastEvidence = 30, kLeastEvents = 20;
constexpr double kMostAround = 0.2;    // of the events in a cluster: as many as its surroundings would have
constexpr double kLeastVariation = 0.75, kMostVariation = 1.35; // of intervals: 1 is a Poisson process
constexpr double kMostDispersion = 2.5; // variance of the nodes' counts against their mean: 1
constexpr double kMostDispersionOfAll = 1.8, kMuchMore = 4;
constexpr size_t kLeastOfNode = 5, kMostClusters = 20;
constexpr double kAddition = 3; // times the shortest loss: what random short losses, which are not seen, add to an event
constexpr double kOwnCpu = 0.3; // of the events that a CPU would have if all shared alike

// Lengths that pile up between two valleys.
struct Pile {
    LengthBand band;
    double count = 0, expected = 0; // losses in it, and as many as there would be at the density of its higher valley
    double others = 0;              // and as there would be at that of the lower
};

class Piles {
  public:
    explicit Piles(const LossStreams& streams) : shortest_s_(streams.least_s()) {
        for (uint32_t loss = 0; loss < streams.count(); ++loss)
            if (const double left_s = streams.left_s(loss); left_s > 0) {
                least_s_ = std::min(least_s_, left_s);
                most_s_ = std::max(most_s_, left_s);
            }
        if (most_s_ == 0)
            return;
        counts_.resize(bin_of(most_s_) + 1);
        for (uint32_t loss = 0; loss < streams.count(); ++loss)
            if (const double left_s = streams.left_s(loss); left_s > 0)
                ++counts_[bin_of(left_s)];
    }

    // The highest first, and of each place that of the least width that shows it; they do not overlap.
    std::vector<Pile> all() const {
        std::vector<Pile> found;
        std::vector<bool> is_taken(counts_.size());
        for (const size_t width : {1, 4, 12, 30}) {
            const std::vector<double> smooth = smoothed(width);
            std::vector<size_t> order;
            for (size_t bin = 0; bin < smooth.size(); ++bin)
                if (smooth[bin] * static_cast<double>(width) >= kLeastEvents / 2)
                    order.push_back(bin);
            std::ranges::stable_sort(order, [&](size_t a, size_t b) { return smooth[a] > smooth[b]; });
            std::vector<bool> is_seen(smooth.size());
            for (const size_t bin : order) {
                if (is_seen[bin] || is_taken[bin])
                    continue;
                const auto [low, is_low] = valley(smooth, bin, -1);
                auto [high, is_high] = valley(smooth, bin, 1);
                const double low_valley = std::min(smooth[low], smooth[high]), high_valley = std::max(smooth[low], smooth[high]);
                const size_t end = high;
                while (high + 1 < smooth.size() && begin_of(high + 1) < begin_of(bin) + kAddition * shortest_s_ &&
                       smooth[high + 1] <= kRise * smooth[high] + kRiseEvents)
                    ++high;
                std::fill(is_seen.begin() + static_cast<std::ptrdiff_t>(low), is_seen.begin() + static_cast<std::ptrdiff_t>(high) + 1, true);
                if (!is_low || !is_high)
                    continue;
                Pile pile{{begin_of(low), begin_of(high + 1)}, 0, 0, 0};
                for (size_t each = low; each <= high; ++each)
                    pile.count += counts_[each];
                pile.expected = high_valley * static_cast<double>(end - low + 1);
                pile.others = low_valley * static_cast<double>(high - low + 1);
                if (pile.count < kLeastEvents || pile.expected > kMostAround * pile.count ||
                    pile.count * std::log(pile.count / std::max(pile.expected, 1.0)) - pile.count + pile.expected < kLeastEvidence ||
                    std::any_of(is_taken.begin() + static_cast<std::ptrdiff_t>(low), is_taken.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                                [](bool taken) { return taken; }))
                    continue;
                std::fill(is_taken.begin() + static_cast<std::ptrdiff_t>(low), is_taken.begin() + static_cast<std::ptrdiff_t>(end) + 1, true);
                found.push_back(pile);
            }
        }
        std::ranges::stable_sort(found, [](const Pile& a, const Pile& b) { return a.count > b.count; });
        return found;
    }

  private:
    static constexpr double kBin = 0.011, kValley = 0.05, kHighestValley = 0.15, kRise = 2, kRiseEvents = 6;

    size_t bin_of(double length_s) const { return static_cast<size_t>(std::log(length_s / least_s_) / kBin); }
    double begin_of(size_t bin) const { return least_s_ * std::exp(kBin * static_cast<double>(bin)); }

    std::vector<double> smoothed(size_t width) const { // losses of a bin, as the mean of `width` bins
        std::vector<double> before(counts_.size() + 1), result(counts_.size());
        for (size_t bin = 0; bin < counts_.size(); ++bin)
            before[bin + 1] = before[bin] + counts_[bin];
        for (size_t bin = 0; bin < counts_.size(); ++bin) {
            const size_t low = bin >= width / 2 ? bin - width / 2 : 0, high = std::min(counts_.size(), low + width);
            result[bin] = (before[high] - before[low]) / static_cast<double>(high - low);
        }
        return result;
    }

    // Where the density has fallen far below the top, or rises again; whether it is low enough there to be the end of a pile. The
    // shortest lengths that were measured are no end: what is below them is not known.
    static std::pair<size_t, bool> valley(const std::vector<double>& smooth, size_t top, int step) {
        size_t lowest = top;
        for (auto bin = static_cast<std::ptrdiff_t>(top);; bin += step) {
            if (bin < 0)
                return {lowest, false};
            if (bin >= static_cast<std::ptrdiff_t>(smooth.size()))
                return {smooth.size() - 1, true};
            const double density = smooth[static_cast<size_t>(bin)];
            if (density < smooth[lowest])
                lowest = static_cast<size_t>(bin);
            if (density <= kValley * smooth[top] || density > kRise * smooth[lowest] + kRiseEvents)
                return {lowest, smooth[lowest] <= kHighestValley * smooth[top]};
        }
    }

    std::vector<double> counts_;
    double least_s_ = INFINITY, most_s_ = 0, shortest_s_; // not explained; of what was measured
};

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
std::optional<model::NoiseNodes> nodes_of(const std::vector<NodeEvents>& nodes, MachineSize machine) {
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
    const auto on_nodes = nodes_of(nodes, machine);
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
    result.noise.frequency_hz = (events - std::min(pile.others, events / 2)) / (members * streams.measured_s() * std::max(seen, 0.1));
    result.noise.phase = phase_of(begins_s, 1.25 * streams.grain_s(), streams.measured_s());
    result.noise.confidence = std::clamp(1 - pile.expected / pile.count, 0.0, 1.0);
    return result;
}

} // namespace

std::vector<FoundClass> take_random_clusters(LossStreams& streams, MachineSize machine, const std::vector<FoundClass>& known) {
    std::vector<FoundClass> found, all = known;
    for (const Pile& pile : Piles(streams).all()) {
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
