#include "noise/event_length.h"

#include "noise/bursts.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace plumb::noise {

namespace {

constexpr size_t kFewestUndisturbed = 3;
constexpr double kOfTheClass = 0.5; // of its mean length: what is shorter is no event of it

std::tuple<uint32_t, int, double> place_of(const model::NoiseLoss& loss) { return {loss.node, loss.cpu, loss.begin_s}; }

// Events in which a thread was driven away are left out.
std::vector<double> undisturbed_lengths_s(const model::NoiseTaker& taker, double least_s) {
    const std::vector<model::NoiseLoss> events = join_bursts(taker.losses).losses;
    std::vector<bool> is_disturbed(events.size(), false);
    for (const model::NoiseLoss& one : taker.drove)
        if (const auto behind = std::ranges::upper_bound(events, place_of(one), {}, place_of); behind != events.begin())
            is_disturbed[static_cast<size_t>(behind - events.begin()) - 1] = true;
    std::vector<double> lengths_s;
    for (size_t i = 0; i < events.size(); ++i)
        if (!is_disturbed[i] && events[i].length_s >= least_s)
            lengths_s.push_back(events[i].length_s);
    return lengths_s;
}

} // namespace

double event_length_s(const model::NoiseTaker& taker, const model::NoiseClass& of_it) {
    const double mean_s = of_it.duration.mean_s;
    if (taker.drove.empty() || of_it.events == 0)
        return mean_s;
    std::vector<double> lengths_s = undisturbed_lengths_s(taker, kOfTheClass * mean_s);
    if (lengths_s.size() >= kFewestUndisturbed) {
        const auto middle = lengths_s.begin() + static_cast<std::ptrdiff_t>(lengths_s.size() / 2);
        std::ranges::nth_element(lengths_s, middle);
        return *middle;
    }
    const auto events = static_cast<double>(of_it.events);
    return std::clamp(taker.programs_cpu_s / events, mean_s, mean_s + taker.displaced_s / events);
}

} // namespace plumb::noise
