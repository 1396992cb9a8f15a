#include "trial/measurement.h"

#include "statistics/difference.h"

#include <algorithm>
#include <vector>

namespace plumb::trial {

namespace {

double median_more(const Pairs& pairs, double (*figure)(const TimedRun&)) {
    std::vector<double> ratios;
    for (size_t i = 0; i < pairs.base.size(); ++i)
        if (figure(pairs.base[i]) > 0 && figure(pairs.cure[i]) > 0)
            ratios.push_back(figure(pairs.cure[i]) / figure(pairs.base[i]));
    return ratios.empty() ? 0 : statistics::median_of(ratios) - 1;
}

} // namespace

Measurement measurement_of(const Pairs& pairs, const DecisionRules& rules, bool is_last) {
    Measurement measured;
    measured.not_counted = pairs.not_counted;
    if (pairs.base.empty())
        return measured;
    const std::vector<double> base = walls_of(pairs.base), cure = walls_of(pairs.cure);
    measured.decision = decide(base, cure, rules, is_last);
    measured.base_wall_s = statistics::median_of(base);
    measured.wall_s = statistics::median_of(cure);
    measured.more_cpu = median_more(pairs, [](const TimedRun& run) { return run.cpu_s; });
    const auto is_known = [](const TimedRun& run) { return run.resident_bytes > 0; };
    if (std::ranges::all_of(pairs.base, is_known) && std::ranges::all_of(pairs.cure, is_known))
        measured.more_memory = median_more(pairs, [](const TimedRun& run) { return static_cast<double>(run.resident_bytes); });
    return measured;
}

} // namespace plumb::trial
