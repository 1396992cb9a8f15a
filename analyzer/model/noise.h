// Noise: what takes CPU time away from programs, as classes of events <frequency, duration, regularity, placement>. Made from
// measured losses (noise/), from the run of a job (analyses/), or read from a file; simulate/ makes events of them again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plumb::model {

// One interval in which a CPU did not work for the program that measured it, or that was disturbed.
struct NoiseLoss {
    uint32_t node = 0;     // number of the host in the job or the measurement, from 0
    int32_t cpu = 0;
    double begin_s = 0;    // since the measurement began on that node
    double length_s = 0;
};

// Losses with what is needed to judge them. By node, then CPU, then begin.
struct NoiseLosses {
    std::vector<NoiseLoss> losses;
    uint32_t nodes = 0;
    uint32_t cpus_per_node = 0; // measured ones
    double measured_s = 0;      // of each CPU
    double least_s = 0;         // shorter losses than this are not among them; 0: all are
};

struct NoiseDuration {
    enum class Shape { constant, uniform, normal, exponential, measured };
    Shape shape = Shape::constant;
    double mean_s = 0;
    double spread_s = 0;              // standard deviation; of `exponential` it is the mean
    std::vector<double> quantiles_s;  // of `measured`: ascending, at equal steps of probability
};

// On which nodes: offsets.empty(): all. Else node n is among them when n % every is one of the offsets; every 0: the offsets are
// the nodes themselves.
struct NoiseNodes {
    uint32_t every = 0;
    std::vector<uint32_t> offsets; // ascending

    bool contains(uint32_t node) const {
        return offsets.empty() || std::ranges::binary_search(offsets, every ? node % every : node);
    }
};

struct NoiseClass {
    enum class Regularity { periodic, poisson, recorded };
    enum class Phase { independent, together }; // of nodes: each at its own moment, or all at the same
    enum class Scope { node, cpu }; // an event takes one CPU of the node, or each CPU has its own events

    std::string name;  // unique among the classes of one machine
    std::string group; // who makes it: a daemon, "kernel"; empty: not known
    double frequency_hz = 0; // mean: events a second of a node (Scope::node) or of a CPU (Scope::cpu)
    NoiseDuration duration;
    Regularity regularity = Regularity::periodic;
    double jitter = 0; // of periodic events: standard deviation of an interval, in periods
    Phase phase = Phase::independent;
    Scope scope = Scope::node;
    std::vector<int> cpus; // on which it happens, ascending; empty: any. Scope::node with several: where the CPU is idle, if one is
    NoiseNodes nodes;
    std::shared_ptr<const NoiseLosses> recorded; // of Regularity::recorded: the events themselves, of Scope::cpu
    std::vector<std::string> fitted; // keys of the classes file whose values nobody measured: they were fitted

    // What is known of a class that was found in losses; zero of one that was read from a file.
    uint64_t events = 0;
    double confidence = 0;  // 0..1
    double loss_share = 0;  // of all losses, by time

    double mean_period_s() const { return frequency_hz > 0 ? 1 / frequency_hz : 0; }
};

// Who took CPUs away from threads that would have gone on, and for which others then waited.
struct NoiseTaker {
    enum class Kind {
        programs,   // outside the run
        own_thread, // of the run, and none of those that are waited for
        peer,       // one of those: more of them than CPUs, no noise
        recorder,   // plumb itself
        unknown,
    };
    Kind kind = Kind::unknown;
    std::vector<std::string> names; // of programs those whose CPU time accounts for it, the most first
    std::vector<uint32_t> pids;     // of programs, as names
    double programs_cpu_s = 0;      // CPU time that they used
    uint32_t host = 0;              // index into Run::hosts; of several the one where it took most
    uint32_t hosts = 0;
    std::vector<int> cpus;          // that were taken on that host, ascending
    uint64_t preemptions = 0;
    double taken_s = 0;             // thread-seconds
    double displaced_s = 0;         // beside it, thread-seconds of turns on another CPU, to which it drove a thread
    double lost_s = 0;              // wall time that it cost those who waited
    NoiseLosses losses;             // the preemptions one by one, as far as they were kept; node: index into Run::hosts
    std::vector<NoiseLoss> drove;   // of these, by node, CPU and time, those after which a thread took turns on another CPU

    // Somebody known, that a user can move out of the way.
    bool is_noise() const { return kind == Kind::programs || kind == Kind::own_thread; }
};

struct NoiseMachine {
    std::string name;
    uint32_t nodes = 0;         // 0: not said
    uint32_t cpus_per_node = 0; // 0: not said
    std::vector<NoiseClass> classes;
};

} // namespace plumb::model
