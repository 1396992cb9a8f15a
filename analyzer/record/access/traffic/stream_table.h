// Collects what bursts of dense samples tell of the streams of loops, over the whole run and all its threads.
#pragma once

#include "record/access/traffic/stream_rates.h"
#include "record/access/traffic/stream_reuse.h"
#include "record/access/traffic/stream_traffic.h"
#include "record/calibrate/bandwidth_timing.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace plumb::record {

// One thread in one burst.
struct ThreadBurst {
    uint32_t pid = 0;
    uint64_t generation = 0;         // of the process
    std::vector<LoopSample> samples; // by time
    std::vector<int> cpus;           // of each of them
    bool is_full = false; // it ended with its last sample, not with the burst: the thread ran all the time
};

struct BurstTime {
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t period_ns = 0;      // between samples
    uint64_t longest_gap_ns = 0; // between those of a thread that kept its CPU
};

// Bytes of memory that places taken out of it at random cover, gaps that are far wider than the others left out. 0: too few
// places to tell.
uint64_t footprint_of(std::vector<uint64_t> places);

class StreamTable {
  public:
    // One access of a time sample: where the streams of its instruction are.
    void note(uint32_t pid, uint64_t generation, uint64_t instruction, uint64_t address);

    // The bytes that streams went over in that time, of all threads.
    uint64_t take(const std::vector<ThreadBurst>& threads, const BurstTime& time);

    const std::map<int, uint64_t>& samples_by_cpu() const { return samples_by_cpu_; } // in loops with streams

    struct Written {
        std::vector<StreamMix> mixes; // of streams that threads spent most time in, each at least a fifth of it; by time
        uint32_t threads = 0;         // at once, in all but the tenth of the bursts with most
    };
    // Whether there are streams that come around to the same place beyond caches of `least_bytes`, and within ones of `most_bytes`.
    bool depends_on_cache(uint64_t least_bytes, uint64_t most_bytes) const;

    // Judges what was collected against `cache_bytes`, of all last caches together. `sample_cost_ns`: what a sample of a burst
    // takes from its thread; in the bursts it came forward so much less. Appends MemoryStream and TrafficBurst records.
    Written write(NodeTraceWriter& file, uint64_t cache_bytes, const std::function<uint64_t()>& sample_cost_ns) const;

  private:
    struct StreamUse {
        uint64_t lowest = UINT64_MAX, highest = 0, last = 0;
    };
    struct Places {
        uint64_t met = 0;
        std::vector<uint64_t> kept; // an even choice of all that were met
    };
    using Key = std::tuple<uint32_t, uint64_t, uint64_t>; // pid, generation, beginning of the loop or an instruction
    struct Loop {
        uint64_t end = 0, samples = 0, first_ns = 0, last_ns = 0;
        std::vector<StreamPosition> positions; // of one sample
        std::map<uint64_t, StreamUse> streams; // by instruction; those that came forward evenly
        uint64_t thread_count = 1;             // at once, the most
        double rounds = 0;                     // that were seen, of all threads
        std::map<uint64_t, uint64_t> entered_from; // how often a thread came from which loop of its process, by its beginning
    };
    // What its accesses, laid side by side, say of a loop.
    struct Shape {
        std::vector<StreamPosition> positions; // of streams
        std::vector<Stream> streams;
        std::vector<std::vector<uint64_t>> places; // by stream
        std::vector<uint64_t> footprint_bytes;     // by stream
        uint64_t round_bytes = 0;                  // of all streams
        double sweep_rounds = 0;                   // that go over its memory once, by the stream that shows most

        double stream_rounds(size_t stream) const; // likewise, of one stream
    };
    struct Burst {
        Key loop;
        BurstTime time;
        double threads = 0;
        std::map<uint64_t, double> rounds_per_s; // by instruction, of all threads
    };
    struct Bytes {
        uint64_t read = 0, written = 0; // of one round
    };
    struct Judged {
        uint32_t id = 0;                // in the file
        std::map<uint64_t, Bytes> bytes; // by instruction, those in front
        StreamMix mix;
        double thread_ns = 0;
    };
    Shape shape_of(const Key& key, const Loop& loop, uint64_t cache_bytes) const;
    std::map<Key, Shape> shapes_of(uint64_t cache_bytes) const; // by loop
    struct Reuse {
        std::vector<uint64_t> bytes; // by stream: what passes through the caches until it comes around to the same place
        size_t after = 0;            // the loop that sweeps before it each time, by its place among the shapes
        bool is_after_other = false; // than itself
    };
    std::vector<Reuse> reuse_of(const std::map<Key, Shape>& shapes) const; // by loop, in the order of the shapes
    Judged judge(const Key& key, const Shape& shape, const Reuse& reuse, uint64_t cache_bytes, uint32_t id,
                 NodeTraceWriter& file) const;
    void note_order(const ThreadBurst& thread);
    uint64_t add(const ThreadBurst& thread, const LoopRate& rate, double occupancy, Loop& loop, Burst& burst); // bytes

    std::map<Key, Loop> loops_;
    std::map<Key, Places> places_; // by instruction
    uint64_t random_ = 88172645463325252;
    std::vector<Burst> bursts_;
    std::map<int, uint64_t> samples_by_cpu_;
};

} // namespace plumb::record
