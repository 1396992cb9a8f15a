// What `plumb noise` measured on one host: fixed work again and again on each CPU, and what each turn of it lost against the
// fastest ones. Times: nanoseconds of the run's clock.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

struct MeasuredCpu {
    static constexpr size_t kBins = 64; // by length of a loss: 0 below 128 ns, then half octaves

    int cpu = 0;
    uint64_t asked_ns = 0;      // length of a quantum that was asked for
    double quantum_ns = 0;      // of the fastest ones
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t quanta = 0;
    uint64_t lost_ns = 0;       // own_ns is not in it
    uint64_t own_ns = 0;        // taken by the recorder
    uint64_t slow_ns = 0;       // of lost_ns: the CPU was slower for a while
    uint64_t small_ns = 0;      // of lost_ns: shorter than floor_ns each
    uint64_t floor_ns = 0;      // by which quanta differ that nothing disturbed
    uint64_t least_ns = 0;      // shorter losses are not in MeasuredNoise::losses
    uint64_t preempted_ns = 0, preempted_count = 0; // of lost_ns: other processes had the CPU
    uint64_t left_out_ns = 0, left_out_count = 0;   // losses of floor_ns and more that are not in MeasuredNoise::losses
    uint64_t unseen = 0;        // quanta that the recorder came too late for
    bool switches_seen = false, names_seen = false;
    std::array<uint64_t, kBins> counts{}, times_ns{};

    uint64_t measured_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};

struct MeasuredLoss {
    enum class Cause { unknown, process, unnamed_process, process_sometime }; // the last: when and in what pieces is not known
    int cpu = 0;
    Cause cause = Cause::unknown;
    uint64_t begin_ns = 0, length_ns = 0;
    uint32_t pid = 0, tid = 0; // of Cause::process and process_sometime
    std::string name;
};

struct LossSeries { // fixed time
    int cpu = 0;
    uint64_t begin_ns = 0, interval_ns = 0;
    std::vector<uint32_t> lost_ppm; // of each interval
};

struct MeasuredNoise {
    std::vector<MeasuredCpu> cpus;    // by number; empty: noise was not measured
    std::vector<MeasuredLoss> losses; // by CPU, then time
    std::vector<LossSeries> series;   // by CPU
};

} // namespace plumb::model
