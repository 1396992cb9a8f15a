// What one CPU lost, from the durations of its quanta and from when the thread that worked was off it. Bounded in memory however
// long the measurement takes. Pure: knows no clock and no kernel.
#pragma once

#include "record/noise/absences.h"
#include "record/noise/quantum_base.h"

#include <plumb/trace/noise.h>

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct LostTime {
    uint64_t begin_ns = 0, length_ns = 0;
    trace::NoiseCause cause = trace::NoiseCause::unknown;
    uint32_t tid = 0, pid = 0;
    uint32_t name = 0; // in a NameTable
};

// Bin of a loss, as trace::NoiseCpu counts them.
size_t noise_bin(uint64_t length_ns);
uint64_t noise_bin_begin_ns(size_t bin);

class LossLog {
  public:
    struct Limits {
        size_t losses = 1u << 16;      // kept; the shortest are given up first
        size_t unsettled = 1u << 16;   // quanta from which what is usual is learned
        uint64_t interval_ns = 1'000'000; // of the series
        size_t intervals = 1u << 14;
    };
    LossLog(uint64_t begin_ns, Limits limits);

    // In order of time. `absences`: those that lie in this quantum (an absence never spans two: without the CPU no quantum ends),
    // without the recorder's own time, which is `own_ns`.
    void quantum(uint64_t duration_ns, uint64_t own_ns, std::vector<Absence> absences);
    void gap(uint64_t duration_ns); // of quanta that nobody saw

    void settle(); // at the end: what was held back until it is known what is usual

    bool is_settled() const { return is_settled_; }
    const QuantumBase& base() const { return base_; }
    std::vector<LostTime>& losses() { return losses_; }

    trace::NoiseCpu totals{}; // all but cpu, flags and asked_ns
    uint64_t series_interval_ns() const { return limits_.interval_ns; }
    std::vector<uint64_t> series_ns; // lost in each interval since begin_ns

  private:
    struct Quantum {
        uint64_t begin_ns, duration_ns, own_ns;
        std::vector<Absence> absences;

        uint64_t worked_ns() const; // on the CPU
    };
    void take(const Quantum& quantum, uint64_t slow_ns);
    void take_window();
    void keep(const LostTime& loss);
    void add_to_series(uint64_t begin_ns, uint64_t end_ns, uint64_t lost_ns);
    void give_up_shortest();

    Limits limits_;
    uint64_t begin_ns_, now_ns_;
    bool is_settled_ = false;
    QuantumBase base_;
    std::vector<Quantum> unsettled_;
    std::vector<Quantum> window_; // of quanta whose common speed is not known yet
    std::vector<LostTime> losses_;
};

} // namespace plumb::record
