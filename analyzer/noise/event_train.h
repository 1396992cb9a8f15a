// The most likely train of periodic events among events of which others are random.
//
// A train is a chain of events each of which comes one period, or a few where some were missed, after the one before. Its score
// is the logarithm of how much likelier these intervals are in a periodic train than among random events as frequent as these:
// a chain follows a train that drifts, and needs no common phase. The best chain is found by dynamic programming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plumb::noise {

struct TrainModel {
    double period_s = 0;
    double deviation_s = 0; // standard deviation of an interval
    double grain_s = 0;     // how exactly begins are known

    // An interval over `periods` lies within this of them.
    double half_window_s(double periods) const;
};

struct EventTrain {
    double score = 0;             // 0: there is none
    std::vector<uint32_t> events; // places in the input, ascending
    std::vector<uint32_t> steps;  // periods since the event before; 0: the first, or the first after a long gap
    uint32_t slots = 0;           // events there would be if none had been missed in the time measured
    double occupancy() const { return slots ? static_cast<double>(events.size()) / slots : 0; }
};

// Reused over many calls: the memory of the search.
class TrainSearch {
  public:
    // `begins_s` ascend. A train of less than two events is none.
    const EventTrain& best(std::span<const double> begins_s, const TrainModel& model, double measured_s);

  private:
    EventTrain train_;
    std::vector<double> score_;
    std::vector<uint32_t> before_;
    std::vector<uint8_t> step_;
};

} // namespace plumb::noise
