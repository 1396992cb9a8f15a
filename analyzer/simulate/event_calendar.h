// The events of one class on all ranks of a job in order of time, made for one stretch of time after the other and only where
// somebody asks.
#pragma once

#include "simulate/rank_noise.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace plumb::simulate {

// Not thread-safe.
class EventCalendar {
  public:
    EventCalendar(const RankNoise& noise, uint32_t noise_class);

    // Calls on_begin(rank) for each event with from_s <= begin < to_s that reaches a rank, and perhaps for some just outside,
    // in order of time but for events that nearly coincide. Cheap where from_s is not far before the latest time asked for.
    template <class OnBegin> void for_each(double from_s, double to_s, OnBegin on_begin) {
        const double rounding_s = 1e-9 + to_s * 1e-12;
        from_s = from_s > rounding_s ? from_s - rounding_s : 0;
        to_s += rounding_s;
        for (auto number = static_cast<int64_t>(from_s / width_s_); static_cast<double>(number) * width_s_ < to_s; number++) {
            const Stretch& stretch = made(number);
            const double offset_s = static_cast<double>(number - stretch.number) * width_s_;
            const double first_s = from_s - offset_s, end_s = to_s - offset_s;
            for (size_t at = stretch.starts[stretch.bucket_of(first_s)]; at < stretch.entries.size(); at++) {
                const Entry& entry = stretch.entries[at];
                if (entry.begin_s >= end_s + stretch.bucket_s)
                    break;
                if (entry.begin_s >= first_s && entry.begin_s < end_s)
                    on_begin(entry.rank);
            }
        }
    }

  private:
    struct Entry {
        double begin_s;
        uint32_t rank;
    };
    struct Stretch {
        int64_t number = -1;
        double begin_s = 0, bucket_s = 0;
        std::vector<Entry> entries;   // by bucket of time
        std::vector<uint32_t> starts; // of each bucket in the entries

        size_t bucket_of(double time_s) const {
            const double bucket = (time_s - begin_s) / bucket_s;
            return bucket <= 0                                        ? 0
                   : bucket >= static_cast<double>(starts.size() - 1) ? starts.size() - 1
                                                                      : static_cast<size_t>(bucket);
        }
    };

    // That stretch, or one that is like it.
    const Stretch& made(int64_t number);

    const RankNoise* noise_;
    uint32_t class_;
    double width_s_; // a whole number of periods
    bool is_repeating_;
    std::array<Stretch, 2> stretches_; // by parity: a window that goes back over a border needs two
    std::vector<Entry> drawn_;
};

} // namespace plumb::simulate
