#include "noise/find_classes.h"

#include "noise/class_assembly.h"
#include "noise/class_name.h"
#include "noise/known_events.h"
#include "noise/log_histogram.h"
#include "noise/loss_streams.h"
#include "noise/period_search.h"
#include "noise/random_clusters.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace plumb::noise {

namespace {

constexpr int kLengthBits = 6;
constexpr double kLeastPileEvidence = 15;
constexpr size_t kMostPiles = 40, kMostFound = 64;
constexpr double kSamePeriod = 0.01, kSameDuration = 0.1, kMostOfRest = 0.1;
constexpr double kAroundPile = 1.05; // a pile's own window cuts its sides off

// Lengths that pile up, the most frequent first; then overlapping ranges, from all to octaves.
std::vector<LengthBand> bands_of(const LossStreams& streams) {
    double least_s = INFINITY, most_s = 0;
    for (uint32_t loss = 0; loss < streams.count(); ++loss)
        if (const double left_s = streams.left_s(loss); left_s > 0) {
            least_s = std::min(least_s, left_s);
            most_s = std::max(most_s, left_s);
        }
    std::vector<LengthBand> bands;
    if (most_s == 0)
        return bands;
    most_s *= 1.001;
    LogHistogram lengths(least_s, most_s, kLengthBits);
    for (uint32_t loss = 0; loss < streams.count(); ++loss)
        lengths.add(streams.left_s(loss));
    auto piles = lengths.peaks(0, {0.03, 0.1, 0.3}, kLeastPileEvidence, kMostPiles);
    std::ranges::sort(piles, [](const auto& a, const auto& b) { return a.count > b.count; });
    for (const HistogramPeak& pile : piles)
        bands.push_back({pile.least / kAroundPile, pile.most * kAroundPile});
    for (double low_s = least_s; low_s < most_s; low_s *= std::sqrt(2.0))
        bands.push_back({low_s, 2 * low_s});
    for (double low_s = least_s; low_s < most_s; low_s *= 4)
        bands.push_back({low_s, 16 * low_s});
    bands.push_back({least_s, most_s});
    return bands;
}

// Few events like those of a class, on some of its nodes, at its period: those that its trains had not reached. Adds them to
// it.
bool is_rest_of_known(const FoundClass& one, std::vector<FoundClass>& known) {
    const auto is_near = [](double value, double other, double within) { return std::abs(value - other) <= within * other; };
    for (FoundClass& other : known)
        if (is_near(one.noise.frequency_hz, other.noise.frequency_hz, kSamePeriod) &&
            is_near(one.noise.duration.mean_s, other.noise.duration.mean_s, kSameDuration) &&
            static_cast<double>(one.noise.events) < kMostOfRest * static_cast<double>(other.noise.events)) {
            other.noise.events += one.noise.events;
            other.loss_s += one.loss_s;
            return true;
        }
    return false;
}

} // namespace

FoundNoise find_noise(const model::NoiseLosses& losses) {
    FoundNoise result;
    LossStreams streams(losses);
    uint32_t nodes = losses.nodes;
    for (const LossStream& node : streams.streams(LossStreams::Level::node))
        nodes = std::max(nodes, node.node + 1);
    const MachineSize size{nodes, std::max(1u, losses.cpus_per_node)};
    result.machine.nodes = nodes;
    result.machine.cpus_per_node = size.cpus_per_node;
    result.loss_of_nodes_s.resize(nodes);
    for (const model::NoiseLoss& loss : losses.losses) {
        result.loss_of_nodes_s[loss.node] += loss.length_s;
        result.loss_s += loss.length_s;
    }
    std::vector<FoundClass> found;
    size_t set_aside = 0;
    for (const LengthBand& band : bands_of(streams))
        while (found.size() < kMostFound) {
            const auto period = search_period(streams, band);
            auto one = period ? assemble_periodic(streams, *period, size) : std::nullopt;
            if (!one)
                break;
            const double length_s = one->noise.duration.mean_s;
            if (!is_rest_of_known(*one, found) &&
                !is_of_known_events({length_s, length_s}, static_cast<double>(one->noise.events), found, size,
                                    streams.grain_s()))
                found.push_back(std::move(*one));
            else if (++set_aside == kMostFound)
                break;
        }
    for (FoundClass& one : take_random_clusters(streams, size, found))
        found.push_back(std::move(one));
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.loss_s > b.loss_s; });
    std::set<std::string> names;
    for (FoundClass& one : found) {
        one.noise.loss_share = result.loss_s > 0 ? one.loss_s / result.loss_s : 0;
        const std::string name = class_name(one.noise, nodes);
        one.noise.name = name;
        for (int number = 2; !names.insert(one.noise.name).second; ++number)
            one.noise.name = fmt::format("{} ({})", name, number);
        result.machine.classes.push_back(std::move(one.noise));
    }
    for (uint32_t loss = 0; loss < streams.count(); ++loss)
        if (streams.left_s(loss) > 0) {
            result.unexplained_s += streams.left_s(loss);
            ++result.unexplained;
        }
    return result;
}

model::NoiseMachine find_classes(const model::NoiseLosses& losses) {
    return find_noise(losses).machine;
}

} // namespace plumb::noise
