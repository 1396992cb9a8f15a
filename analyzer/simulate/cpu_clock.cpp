#include "simulate/cpu_clock.h"

namespace plumb::simulate {

std::vector<Delay> CpuClock::delays(uint32_t rank, double start_s, double work_s, double busy_until_s) {
    std::vector<Delay> result;
    double left_s = busy_until_s - start_s;
    for (double back_s = std::max(2 * left_s, 1e-3), to_s = start_s; left_s > 0 && to_s > 0; back_s *= 2) {
        const double from_s = std::max(0.0, to_s - back_s);
        events_.clear();
        noise_->gather(rank, from_s, to_s, events_);
        for (auto event = events_.rbegin(); event != events_.rend() && left_s > 0; ++event) {
            result.push_back({event->noise_class, event->length_s, std::min(event->length_s, left_s)});
            left_s -= event->length_s;
        }
        to_s = from_s;
    }
    double finish_s = std::max(start_s, busy_until_s) + work_s;
    for (double from_s = start_s, to_s = finish_s; from_s < to_s; from_s = to_s, to_s = finish_s) {
        events_.clear();
        noise_->gather(rank, from_s, to_s, events_);
        for (const NoiseEvent& event : events_) {
            finish_s += event.length_s;
            result.push_back({event.noise_class, event.length_s, event.length_s});
        }
    }
    return result;
}

} // namespace plumb::simulate
