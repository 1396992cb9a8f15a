// One rank's CPU under noise, in wall time. An event holds the CPU for its length; events that begin while another holds it
// wait for their turn (first come, first served); the rank computes only while none holds it. So an event delays a rank that
// computes by its whole length, and one that waits in a collective only by what is left of it when the collective ends.
#pragma once

#include "simulate/rank_noise.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace plumb::simulate {

// What one event adds to a rank's computing.
struct Delay {
    uint32_t noise_class = 0;
    double length_s = 0; // of the whole event
    double part_s = 0;
};

// Works for any rank, one after the other; keeps memory for its events. Not thread-safe.
class CpuClock {
  public:
    explicit CpuClock(const RankNoise& noise) : noise_(&noise) {}

    // Until when noise holds the CPU, by the events before to_s. `busy_until_s` is that by the events before from_s.
    double busy_until(uint32_t rank, double from_s, double to_s, double busy_until_s) {
        events_.clear();
        noise_->gather(rank, from_s, to_s, events_);
        for (const NoiseEvent& event : events_)
            busy_until_s = std::max(busy_until_s, event.begin_s) + event.length_s;
        return busy_until_s;
    }

    // When `work_s` of computing is done that starts at start_s. `busy_until_s`: by the events before known_s, which is not
    // after start_s.
    double finish(uint32_t rank, double start_s, double work_s, double known_s, double busy_until_s) {
        double to_s = start_s + work_s;
        events_.clear();
        noise_->gather(rank, known_s, to_s, events_);
        size_t at = 0;
        for (; at < events_.size() && events_[at].begin_s < start_s; at++)
            busy_until_s = std::max(busy_until_s, events_[at].begin_s) + events_[at].length_s;
        double finish_s = std::max(start_s, busy_until_s) + work_s;
        for (; at < events_.size(); at++)
            finish_s += events_[at].length_s;
        // Each event that begins before the rank is done lets more events in.
        while (to_s < finish_s) {
            events_.clear();
            noise_->gather(rank, to_s, finish_s, events_);
            to_s = finish_s;
            for (const NoiseEvent& event : events_)
                finish_s += event.length_s;
        }
        return finish_s;
    }

    // The events that delay this computing; the parts sum to finish - start - work. What is left of noise at the start belongs
    // to the events that came last.
    std::vector<Delay> delays(uint32_t rank, double start_s, double work_s, double busy_until_s);

  private:
    const RankNoise* noise_;
    std::vector<NoiseEvent> events_;
};

} // namespace plumb::simulate
