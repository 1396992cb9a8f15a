// What a measurement of noise comes to: how much is lost, where, in which classes, and to whom.
#pragma once

#include "model/noise.h"
#include "model/run.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct NoiseCulprit {
    enum class Kind { process, unnamed_process, steal, slower, small, unknown };
    Kind kind = Kind::unknown;
    std::string name;       // of Kind::process
    double lost_s = 0;      // of all nodes
    double share = 0;       // of all that was lost
    double fraction = 0;    // of the CPU time that was measured
    uint64_t events = 0;    // 0: not counted
    double period_s = 0;    // between two events on one node; 0: too few
    bool is_regular = false;
    double length_s = 0, spread_s = 0; // mean of an event, standard deviation
    uint64_t longest_ns = 0;
    size_t nodes = 0;       // on so many
    std::vector<int> cpus;  // on these, of any node
    bool is_estimate = false;
};

struct NoiseCpuLoss {
    uint32_t node = 0;
    const model::MeasuredCpu* cpu = nullptr;
    double fraction = 0; // of the measured time
};

struct NoiseNodeLoss {
    uint32_t node = 0;
    std::string host;
    double lost_s = 0, measured_s = 0, fraction = 0; // all CPUs together
};

struct NoiseInterrupts { // of one source, on all CPUs that were measured
    std::string name;
    double rate_hz = 0; // of one CPU that gets them
    std::vector<int> cpus;
};

struct NoiseSummary {
    std::vector<NoiseNodeLoss> nodes; // as numbered by the classes: the order of Run::hosts
    std::vector<NoiseCpuLoss> cpus;
    double measured_s = 0, lost_s = 0, own_s = 0; // CPU time
    double seconds = 0;                           // the longest measurement of a CPU
    double quantum_s = 0;                         // as asked for
    std::array<double, model::MeasuredCpu::kBins> counts{}, times_s{}; // losses by length
    std::vector<NoiseCulprit> culprits; // by loss; what is not known stays among them
    model::NoiseMachine machine;        // the classes
    std::vector<NoiseInterrupts> interrupts; // the most frequent first
    double floor_s = 0;          // shorter losses are not distinguishable from what undisturbed quanta differ by
    double floor_fraction = 0;   // of a CPU: what takes less is hidden by losses of unknown cause
    double unknown_share = 0;    // of the loss
    double left_out_s = 0;       // losses that were not kept one by one
    uint64_t unseen = 0;         // quanta that the recorder came too late for
    bool switches_seen = true, names_seen = true; // on all nodes
    double fraction() const { return measured_s > 0 ? lost_s / measured_s : 0; }
};

// Of a run that measured noise.
NoiseSummary summarise_noise(const model::Run& run);

} // namespace plumb
