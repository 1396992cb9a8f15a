#include "noise/known_events.h"

#include <algorithm>

namespace plumb::noise {

namespace {

using model::NoiseClass;

constexpr double kSameLength = 0.05;
constexpr double kMostSums = 3;   // of the meetings that are expected
constexpr double kMostRest = 0.1; // of the known class's events

struct Sum {
    double length_s, spread_s, meetings;
};

double of_cpu_hz(const NoiseClass& one, MachineSize machine) {
    return one.frequency_hz / (one.scope == NoiseClass::Scope::node ? machine.cpus_per_node : 1);
}

// Either may begin in the quantum that the other lengthens.
Sum meeting(const Sum& sum, const NoiseClass& other, MachineSize machine, double grain_s) {
    const double length_s = sum.length_s + other.duration.mean_s;
    return {length_s, sum.spread_s + other.duration.spread_s,
            sum.meetings * of_cpu_hz(other, machine) * (2 * grain_s + length_s)};
}

bool fits(const Sum& sum, LengthBand band) {
    const double margin_s = kSameLength * sum.length_s + 2 * sum.spread_s;
    return band.most_s > sum.length_s - margin_s && band.least_s < sum.length_s + margin_s;
}

} // namespace

bool is_of_known_events(LengthBand band, double events, const std::vector<FoundClass>& known, MachineSize machine,
                        double grain_s) {
    const auto can_meet = [&](size_t first, size_t second) { // the events of one train keep apart
        return first != second || known[first].noise.regularity == NoiseClass::Regularity::poisson;
    };
    for (size_t first = 0; first < known.size(); ++first) {
        const NoiseClass& one = known[first].noise;
        const Sum alone{one.duration.mean_s, one.duration.spread_s, static_cast<double>(one.events)};
        if (fits(alone, band) && events < kMostRest * alone.meetings)
            return true;
        for (size_t second = first; second < known.size(); ++second) {
            if (!can_meet(first, second))
                continue;
            const Sum two = meeting(alone, known[second].noise, machine, grain_s);
            if (fits(two, band) && events < kMostSums * two.meetings)
                return true;
            for (size_t third = second; third < known.size(); ++third) {
                const Sum three = meeting(two, known[third].noise, machine, grain_s);
                if (can_meet(second, third) && fits(three, band) && events < kMostSums * three.meetings)
                    return true;
            }
        }
    }
    return false;
}

} // namespace plumb::noise
