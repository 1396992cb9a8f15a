// What one simulated run of a job came to.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace plumb::simulate {

// Delay by the length of the events that made it: ten bins a decade, from 1 us to 1000 s.
struct LossByLength {
    static constexpr int kPerDecade = 10;
    static constexpr size_t kBins = 9 * kPerDecade;
    std::array<double, kBins> delay_s{};

    static double upper_s(size_t bin) { return 1e-6 * std::pow(10.0, static_cast<double>(bin + 1) / kPerDecade); }
    static size_t bin_of(double length_s) {
        const double bin = std::floor(std::log10(length_s * 1e6) * kPerDecade);
        return bin > 0 ? std::min(static_cast<size_t>(bin), kBins - 1) : 0; // also of lengths of 0
    }
};

struct Outcome {
    uint64_t cycles = 0;
    double total_s = 0;             // of all cycles
    double quiet_s = 0;             // of the same without noise
    double waited_s = -1;           // mean of the ranks, for the last one of each cycle; below 0: not known
    double least_s = 0, most_s = 0; // of a cycle; of a halo exchange unknown, since its ranks do not cycle together: 0

    // The excess of each cycle, divided over the events that delayed its last rank, in proportion. Empty for a halo exchange,
    // where a delay spreads from neighbour to neighbour and no cycle has one last rank.
    std::vector<double> delay_of_class_s; // by index of the class
    LossByLength loss;

    std::vector<double> events_of_class; // on the ranks' CPUs in the simulated time, expected
    uint64_t looked_at = 0;              // ranks that were followed through a cycle, the others could not be the last

    double events() const { return std::accumulate(events_of_class.begin(), events_of_class.end(), 0.0); }
    double waited_in_cycle_s() const { return cycles ? waited_s / static_cast<double>(cycles) : 0; }
    double cycle_s() const { return cycles ? total_s / static_cast<double>(cycles) : 0; }
    double quiet_cycle_s() const { return cycles ? quiet_s / static_cast<double>(cycles) : 0; }
};

} // namespace plumb::simulate
