#include "scale/bandwidth_limit.h"

#include "statistics/spread.h"

namespace plumb::scale {

namespace {

constexpr double kMostOfTime = 0.5;
constexpr double kProportional = 0.9; // of so many times what one moves
constexpr double kSeveral = 1.5;      // threads at once: with one there is nothing to share

} // namespace

std::optional<BandwidthSummary> bandwidth_of(const ScalePoint& point) {
    std::vector<const BandwidthSummary*> seen;
    for (const RunFacts& run : point.facts)
        if (run.bandwidth)
            seen.push_back(&*run.bandwidth);
    if (2 * seen.size() <= point.facts.size())
        return std::nullopt;
    BandwidthSummary middle = *seen.front();
    for (double BandwidthSummary::*const figure :
         {&BandwidthSummary::bytes_per_s, &BandwidthSummary::threads, &BandwidthSummary::roof_fraction,
          &BandwidthSummary::roof_times_one_thread, &BandwidthSummary::time_fraction}) {
        std::vector<double> values;
        for (const BandwidthSummary* const one : seen)
            values.push_back(one->*figure);
        middle.*figure = statistics::median_of(values);
    }
    return middle;
}

std::string place_of(const BandwidthSummary& bandwidth) {
    if (bandwidth.where.empty())
        return "";
    const Location& heaviest = bandwidth.where.front();
    return place_of(model::SourceFrame{heaviest.function, heaviest.file, heaviest.line, heaviest.module, false});
}

bool is_limit(const BandwidthSummary& bandwidth) {
    return bandwidth.time_fraction >= kMostOfTime && bandwidth.threads >= kSeveral && fills_roof(bandwidth.roof_fraction, 1) &&
           bandwidth.roof_times_one_thread > 0 && bandwidth.roof_times_one_thread <= kProportional * bandwidth.threads;
}

} // namespace plumb::scale
