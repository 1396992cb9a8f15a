// Turns the ticks of a rank's counter into nanoseconds since the run began, as the first host's clock counts them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace plumb::replay {

// Signed nanoseconds since the run began. What damaged files claim is held within kMost, so that sums do not overflow.
using Nanoseconds = int64_t;
inline constexpr Nanoseconds kMost = 1'000'000'000'000'000; // 11.6 days

inline Nanoseconds since(uint64_t begin_ns, uint64_t time_ns) {
    return std::clamp(static_cast<Nanoseconds>(time_ns - begin_ns), -kMost, kMost);
}

// Modulo 2^64: what honest files say never comes near, and what damaged ones say must not be undefined.
inline void accumulate(Nanoseconds& sum, Nanoseconds value) {
    sum = static_cast<Nanoseconds>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
}

inline double seconds(Nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }

// What to add to the times of one host: straight lines between equally spaced moments, constant before and behind them.
struct HostShift {
    Nanoseconds begin = 0, step = 0; // moment of values[0], distance of two
    std::vector<double> values;      // nanoseconds; empty: nothing to add

    double at(double moment) const {
        if (values.empty())
            return 0;
        const double place = step > 0 ? (moment - static_cast<double>(begin)) / static_cast<double>(step) : 0;
        if (!(place > 0))
            return values.front();
        const auto before = static_cast<size_t>(std::min(place, static_cast<double>(values.size())));
        if (before + 1 >= values.size())
            return values.back();
        const double part = place - static_cast<double>(before);
        return values[before] + part * (values[before + 1] - values[before]);
    }
};

struct Clock {
    uint64_t origin_ticks = 0;
    Nanoseconds origin = 0;
    double ns_per_tick = 1;
    const HostShift* shift = nullptr; // outlives the clock; null: none

    Nanoseconds moment(uint64_t ticks) const {
        const double since_origin = static_cast<double>(static_cast<int64_t>(ticks - origin_ticks)) * ns_per_tick;
        const double moment = static_cast<double>(origin) + since_origin;
        return bounded(shift ? moment + shift->at(moment) : moment);
    }

    Nanoseconds duration(uint64_t ticks) const { return bounded(static_cast<double>(ticks) * ns_per_tick); }

  private:
    static Nanoseconds bounded(double ns) {
        const auto most = static_cast<double>(kMost);
        return static_cast<Nanoseconds>(std::floor(std::clamp(ns, -most, most) + 0.5));
    }
};

} // namespace plumb::replay
