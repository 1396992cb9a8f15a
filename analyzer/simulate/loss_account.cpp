#include "simulate/loss_account.h"

#include <algorithm>

namespace plumb::simulate {

void LossAccount::add(double excess_s, const std::vector<Delay>& delays) {
    double sum_s = 0;
    for (const Delay& delay : delays)
        sum_s += delay.part_s;
    if (!(sum_s > 0))
        return;
    for (const Delay& delay : delays) {
        const double part_s = excess_s * delay.part_s / sum_s;
        outcome_.delay_of_class_s[delay.noise_class] += part_s;
        outcome_.loss.delay_s[LossByLength::bin_of(delay.length_s)] += part_s;
    }
}

void LossAccount::end_cycle(double cycle_s, double quiet_s) {
    outcome_.least_s = outcome_.cycles ? std::min(outcome_.least_s, cycle_s) : cycle_s;
    outcome_.most_s = std::max(outcome_.most_s, cycle_s);
    outcome_.cycles++;
    outcome_.total_s += cycle_s;
    outcome_.quiet_s += quiet_s;
}

std::vector<double> expected_events(const RankNoise& noise, double time_s) {
    std::vector<double> events;
    for (uint32_t i = 0; i < noise.machine().classes.size(); i++)
        events.push_back(noise.is_felt(i) ? noise.events_hz(i) * time_s : 0);
    return events;
}

Outcome LossAccount::outcome(uint64_t looked_at) const {
    Outcome result = outcome_;
    result.looked_at = looked_at;
    result.events_of_class = expected_events(noise_, result.total_s);
    return result;
}

} // namespace plumb::simulate
