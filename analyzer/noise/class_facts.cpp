#include "noise/class_facts.h"

#include <algorithm>
#include <cmath>

namespace plumb::noise {

bool is_choice_of_cpus(size_t cpus, uint32_t of, double events) {
    constexpr double kLeastEvidence = 7; // one in a thousand
    return cpus > 0 && cpus < of && events * std::log(of / static_cast<double>(cpus)) > kLeastEvidence;
}

model::NoiseClass::Phase phase_of(const std::vector<std::vector<double>>& begins_of_nodes_s, double window_s,
                                  double measured_s) {
    constexpr size_t kMostPairs = 64;
    constexpr double kMeets = 0.6;    // of a node's events come with one of the next node's
    constexpr double kTogether = 0.8; // of the pairs of nodes meet
    constexpr double kLeastEvidence =
        7; // one in a thousand; two periodic nodes that meet once meet always, so each pair counts once
    double pairs = 0, meeting = 0, evidence = 0;
    for (size_t node = 1; node < std::min(begins_of_nodes_s.size(), kMostPairs); ++node) {
        const auto &first = begins_of_nodes_s[node - 1], &second = begins_of_nodes_s[node];
        if (first.empty() || second.empty())
            continue;
        double met = 0;
        for (const double begin_s : second) {
            const auto near = std::ranges::lower_bound(first, begin_s - window_s);
            met += near != first.end() && *near <= begin_s + window_s;
        }
        ++pairs;
        if (met > kMeets * static_cast<double>(second.size())) {
            ++meeting;
            evidence -= std::log(std::min(1.0, 2 * window_s * static_cast<double>(first.size()) / measured_s));
        }
    }
    return pairs > 0 && meeting >= kTogether * pairs && evidence > kLeastEvidence ? model::NoiseClass::Phase::together
                                                                                  : model::NoiseClass::Phase::independent;
}

} // namespace plumb::noise
