// What memory can move, as an earlier run measured it: the measurement takes some tenths of a second on every CPU that the run
// used. Kept for an hour, because other programs and other virtual machines on the same memory come and go.
#pragma once

#include "platform/machine_cache.h"
#include "record/calibrate/bandwidth_timing.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace plumb::record {

// `now_ns`: CLOCK_MONOTONIC. `measure`: what time_bandwidth answers for these CPUs and so many bytes on each node; kept where it
// has points.
BandwidthTime known_bandwidth(platform::MachineCache& cache, const StreamMix& mix, const std::vector<TimedCpu>& cpus,
                              uint64_t bytes_each_node, uint64_t now_ns, const std::function<BandwidthTime()>& measure);

} // namespace plumb::record
