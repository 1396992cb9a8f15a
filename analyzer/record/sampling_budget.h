// Keeps the cost of recording within the share that the user allows, and writes what it was.
#pragma once

#include "record/calibrate/calibration.h"
#include "record/collectors.h"
#include "record/run/overhead_governor.h"
#include "record/run/sampling_rate.h"

#include <cstdint>

namespace plumb::record {

class SamplingBudget {
  public:
    // `share`: of the run's CPU time, for all of recording.
    SamplingBudget(Collectors& collectors, Calibration& calibration, double share, uint64_t begin_ns);

    // Of samples that could not be kept from being made, some are left out by the recorder: most of a sample's cost is its own.
    SampleChoice choice() const { return {governor_.weight(), !can_pause()}; }

    // Where sampling is paused now and then: begins or ends a pause. Returns for how long that holds; UINT64_MAX: without an
    // end.
    uint64_t choose_slice();

    void look(uint64_t now_ns); // once a tick

    void find_sample_cost(bool is_over); // what it costs here, in the program

    // `record`: what recording cost so far.
    void write(trace::RecorderCost& record) const;

  private:
    bool can_pause() const { return collectors_.sampler && collectors_.sampler->can_pause(); }

    Collectors& collectors_;
    Calibration& calibration_;
    OverheadGovernor governor_;
    SamplingRate rate_;
    const uint64_t begin_ns_;
    uint64_t sample_cost_ns_ = 0, last_look_ns_ = 0;
};

} // namespace plumb::record
