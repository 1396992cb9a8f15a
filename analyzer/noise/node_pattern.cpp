#include "noise/node_pattern.h"

#include <algorithm>
#include <cmath>

namespace plumb::noise {

namespace {

constexpr double kMostExceptions = 0.1; // of the smaller of those that have it and those that have not
constexpr double kBitsSaved = 10;       // one structure in a thousand is chance
constexpr size_t kLongestStructure = 4096, kLeastRepeats = 2, kMostPatternSteps = 500'000'000;

double bits_of_choice(double all, double chosen) { // log2 of the ways to choose
    return (std::lgamma(all + 1) - std::lgamma(chosen + 1) - std::lgamma(all - chosen + 1)) / std::log(2.0);
}

} // namespace

model::NoiseNodes node_pattern(const std::vector<bool>& is_member) {
    const size_t nodes = is_member.size();
    const auto members = static_cast<size_t>(std::ranges::count(is_member, true));
    const auto all = static_cast<double>(nodes);
    if (static_cast<double>(members) >= (1 - kMostExceptions) * all)
        return {};
    std::vector<uint32_t> list;
    for (uint32_t node = 0; node < nodes; ++node)
        if (is_member[node])
            list.push_back(node);
    model::NoiseNodes best{0, list};
    double least_bits = bits_of_choice(all, static_cast<double>(members)) - kBitsSaved;
    const double most_exceptions = kMostExceptions * static_cast<double>(std::min(members, nodes - members));
    const size_t longest =
        std::min({kLongestStructure, nodes / kLeastRepeats, kMostPatternSteps / std::max<size_t>(members, 1)});
    for (size_t every = 2; every <= longest; ++every) {
        std::vector<size_t> having(every);
        for (const uint32_t node : list)
            ++having[node % every];
        size_t exceptions = 0;
        model::NoiseNodes pattern{static_cast<uint32_t>(every), {}};
        for (size_t offset = 0; offset < every; ++offset) {
            const size_t repeats = (nodes - offset + every - 1) / every;
            const bool is_in = 2 * having[offset] > repeats;
            exceptions += is_in ? repeats - having[offset] : having[offset];
            if (is_in)
                pattern.offsets.push_back(static_cast<uint32_t>(offset));
        }
        if (static_cast<double>(exceptions) > most_exceptions || pattern.offsets.empty() || pattern.offsets.size() == every)
            continue;
        const double bits = 2 * std::log2(static_cast<double>(every)) + // the period, and that it is this long
                            bits_of_choice(static_cast<double>(every), static_cast<double>(pattern.offsets.size())) +
                            bits_of_choice(all, static_cast<double>(exceptions));
        if (bits < least_bits) {
            least_bits = bits;
            best = pattern;
        }
    }
    return best;
}

} // namespace plumb::noise
