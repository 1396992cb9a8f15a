// What threads on given CPUs move through memory, more and more of them at a time: the roof over a program's traffic. A
// calibration of about a second at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

// How many arrays a loop goes through at once, by what it does to them.
struct StreamMix {
    uint32_t loads = 0, stores = 0, updates = 0; // updates: read and written
    uint32_t past_caches = 0;                    // overwritten with non-temporal stores
    uint32_t arrays() const { return loads + stores + updates + past_caches; }
    bool operator==(const StreamMix&) const = default;
};

// The same kinds in about the same shares, with `most` arrays or fewer; one of each kind that there is at least.
StreamMix reduced(StreamMix mix, uint32_t most);

struct TimedCpu {
    int cpu = 0, node = 0;
    bool operator==(const TimedCpu&) const = default;
};

// 1, 2, 3, 4, 6, 8, 12, 16, ... and `most`.
std::vector<uint32_t> thread_steps(uint32_t most);

struct BandwidthPoint {
    uint32_t threads = 0; // on the first so many CPUs
    double bytes_per_s = 0, low = 0, high = 0; // median and quartiles. A line that is stored to counts twice: it is read first
};

struct BandwidthTime {
    uint64_t bytes = 0;  // of all arrays
    std::vector<BandwidthPoint> points; // by threads; empty: not measured
    std::string why_not; // in words, then
};

// Threads are pinned to `cpus`, in this order; the arrays of a NUMA node, of `bytes_each_node` together, lie on that node
// and are shared out among its threads. At most `most_bytes` are taken in all.
BandwidthTime time_bandwidth(const StreamMix& mix, const std::vector<TimedCpu>& cpus, uint64_t bytes_each_node,
                             uint64_t most_bytes);

} // namespace plumb::record
