// The events of one class of noise on any of its sources (a node or a CPU), from any moment to any other. Nothing is stored, but
// what was recorded.
#pragma once

#include "model/noise.h"
#include "simulate/random_numbers.h"
#include "simulate/recorded_events.h"

#include <cstdint>
#include <optional>

namespace plumb::simulate {

// periodic: event k of a source begins at (k + phase + e_k) periods. The phase is uniform in a period, drawn for each source,
// or once where the class happens together. e_k is uniform around 0, so wide that intervals have the jitter as their standard
// deviation.
//
// poisson: time is cut into bins of a mean period; a bin holds a Poisson number of events of mean 1, uniform in it. That is a
// Poisson process exactly, and gives the events of any moment without those before.
//
// recorded: recorded_events.h.
class EventTrain {
  public:
    // Sources are numbered so.
    static uint64_t source_of_node(uint32_t node) { return uint64_t{node} << 16; }
    static uint64_t source_of_cpu(uint32_t node, uint32_t cpu) { return (uint64_t{node} << 16) + cpu + 1; }

    EventTrain(const model::NoiseClass& noise_class, uint64_t seed);

    // Calls on_event(number, begin_s) for each event of the source with from_s <= begin_s < to_s; of a periodic class with
    // jitter and of a Poisson process in no order. Numbers name an event of a source for length_s and chosen.
    template <class OnEvent> void for_each(uint64_t source, double from_s, double to_s, OnEvent on_event) const {
        if (!(from_s < to_s))
            return;
        if (recorded_) {
            recorded_->for_each(static_cast<uint32_t>(source >> 16), static_cast<uint32_t>(source & 0xffff) - 1, from_s, to_s, on_event);
            return;
        }
        const uint64_t key = key_of(class_key_, is_together_ ? 0 : source + 1);
        is_poisson_ ? each_of_poisson(key, from_s, to_s, on_event) : each_of_periodic(key, from_s, to_s, on_event);
    }

    double length_s(uint64_t source, int64_t number) const;
    // Which of `count` equal things the event takes.
    uint32_t chosen(uint64_t source, int64_t number, uint32_t count) const;

    double period_s() const { return period_s_; } // mean
    bool is_together() const { return is_together_; }
    bool is_periodic() const { return !is_poisson_ && !recorded_; }
    double most_shift() const { return most_shift_; } // of a periodic event from its place, in periods

  private:
    static constexpr int64_t kMostInBin = 32; // more than 31 of mean 1 have probability 10^-36, less than a step of fraction_of

    template <class OnEvent> void each_of_periodic(uint64_t key, double from_s, double to_s, OnEvent& on_event) const {
        const double phase = fraction_of(key), rounding = rounding_at(to_s);
        const int64_t last = floor_of(to_s * per_s_ - phase + most_shift_ + rounding);
        for (int64_t number = floor_of(from_s * per_s_ - phase - most_shift_ - rounding) + 1; number <= last; number++) {
            const double shift = most_shift_ > 0 ? shift_of(key, number) : 0;
            const double begin_s = (static_cast<double>(number) + phase + shift) * period_s_;
            if (begin_s >= from_s && begin_s < to_s)
                on_event(number, begin_s);
        }
    }

    template <class OnEvent> void each_of_poisson(uint64_t key, double from_s, double to_s, OnEvent& on_event) const {
        const auto last = floor_of(to_s * per_s_ + rounding_at(to_s));
        for (auto bin = floor_of(from_s * per_s_ - rounding_at(to_s)); bin <= last; bin++) {
            const uint64_t bin_key = key_of(key, static_cast<uint64_t>(bin));
            const int count = count_in_bin(fraction_of(bin_key));
            for (int i = 0; i < count; i++) {
                const double place = fraction_of(key_of(bin_key, static_cast<uint64_t>(i)));
                const double begin_s = (static_cast<double>(bin) + place) * period_s_;
                if (begin_s >= from_s && begin_s < to_s)
                    on_event(bin * kMostInBin + i, begin_s);
            }
        }
    }

    // Places in periods are known to this; the exact test is that of begin_s.
    double rounding_at(double time_s) const { return 1e-6 + time_s * per_s_ * 1e-15; }
    // std::floor is a call on machines of the first x86-64 kind. A shift is less than 4 periods, so nothing is below -8.
    static int64_t floor_of(double place) { return static_cast<int64_t>(place + 8) - 8; }

    double shift_of(uint64_t key, int64_t number) const {
        return most_shift_ * (2 * fraction_of(key_of(key, static_cast<uint64_t>(number))) - 1);
    }
    static int count_in_bin(double fraction);

    const model::NoiseClass* class_;
    uint64_t class_key_;
    double period_s_, per_s_;
    double most_shift_ = 0;
    bool is_together_, is_poisson_;
    std::optional<RecordedEvents> recorded_;
};

} // namespace plumb::simulate
