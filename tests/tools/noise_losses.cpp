#include "noise_losses.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace plumb::tools {

namespace {

using model::NoiseClass;
using Random = std::mt19937_64;

struct Event {
    double begin_s, length_s;
};

uint64_t mix(uint64_t a, uint64_t b) { // splitmix64's finisher: streams of neighbours have nothing in common
    uint64_t value = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

double length_of(const model::NoiseDuration& duration, Random& random) {
    using Shape = model::NoiseDuration::Shape;
    const double unit = std::uniform_real_distribution<>(0, 1)(random);
    switch (duration.shape) {
    case Shape::constant:
        return duration.mean_s;
    case Shape::uniform:
        return std::max(0.0, duration.mean_s + duration.spread_s * std::sqrt(3.0) * (2 * unit - 1));
    case Shape::normal:
        return std::max(0.0, std::normal_distribution<>(duration.mean_s, duration.spread_s)(random));
    case Shape::exponential:
        return -duration.mean_s * std::log1p(-unit);
    case Shape::measured: {
        const double place = unit * static_cast<double>(duration.quantiles_s.size() - 1);
        const auto below = static_cast<size_t>(place);
        const size_t above = std::min(below + 1, duration.quantiles_s.size() - 1);
        return std::lerp(duration.quantiles_s[below], duration.quantiles_s[above], place - static_cast<double>(below));
    }
    }
    return 0;
}

// The begins of one train of a class.
template <class Take> void for_each_begin(const NoiseClass& one, double until_s, Random& random, Take take) {
    const double period_s = one.mean_period_s();
    std::exponential_distribution<> poisson(one.frequency_hz);
    std::normal_distribution<> deviation(0, one.jitter);
    const bool is_periodic = one.regularity == NoiseClass::Regularity::periodic;
    double at_s = is_periodic ? period_s * std::uniform_real_distribution<>(0, 1)(random) : poisson(random);
    while (at_s < until_s) {
        take(at_s);
        at_s += is_periodic ? period_s * std::max(0.05, 1 + (one.jitter > 0 ? deviation(random) : 0)) : poisson(random);
    }
}

// Adds the node's events of one class to those of its CPUs.
void add_events(const NoiseClass& one, uint64_t class_seed, uint32_t node, double until_s,
                std::vector<std::vector<Event>>& of_cpus) {
    std::vector<int> cpus = one.cpus;
    if (cpus.empty())
        for (size_t cpu = 0; cpu < of_cpus.size(); ++cpu)
            cpus.push_back(static_cast<int>(cpu));
    Random own(mix(class_seed, node));
    const bool is_together = one.phase == NoiseClass::Phase::together;
    const auto begins_of = [&](uint64_t train) { return Random(mix(mix(class_seed, train), is_together ? 0 : node + 1)); };
    if (one.scope == NoiseClass::Scope::node) {
        Random random = begins_of(~uint64_t{0});
        for_each_begin(one, until_s, random, [&](double at_s) {
            const auto cpu = static_cast<size_t>(cpus[std::uniform_int_distribution<size_t>(0, cpus.size() - 1)(own)]);
            of_cpus.at(cpu).push_back({at_s, length_of(one.duration, own)});
        });
        return;
    }
    for (const int cpu : cpus) {
        Random random = begins_of(static_cast<uint64_t>(cpu));
        for_each_begin(one, until_s, random, [&](double at_s) {
            of_cpus.at(static_cast<size_t>(cpu)).push_back({at_s, length_of(one.duration, own)});
        });
    }
}

// Random short losses, one after another.
class Background {
  public:
    Background(const NoiseMeasurement& measurement, uint64_t seed)
        : random_(seed), frequency_hz_(measurement.background_loss / measurement.background_mean_s),
          mean_s_(measurement.background_mean_s) {
        next_.begin_s = frequency_hz_ > 0 ? 0 : INFINITY;
        if (frequency_hz_ > 0)
            step();
    }

    const Event& next() const { return next_; }
    void step() {
        next_.begin_s += exponential() / frequency_hz_;
        next_.length_s = exponential() * mean_s_;
    }

  private:
    double exponential() { return -std::log1p(-static_cast<double>(random_() >> 11) * 0x1p-53); }

    Random random_;
    double frequency_hz_, mean_s_;
    Event next_{};
};

// Runs the quanta of one CPU; returns how long they took.
double run_quanta(const NoiseMeasurement& measurement, const std::vector<Event>& events, Background background, uint32_t node,
                  int32_t cpu, std::vector<model::NoiseLoss>& losses) {
    double begin_s = 0;
    size_t next = 0;
    for (uint64_t quantum = 0; quantum < measurement.quanta; ++quantum) {
        double loss_s = 0;
        for (bool is_more = true; is_more;) {
            const double end_s = begin_s + measurement.quantum_s + loss_s;
            is_more = false;
            for (; next < events.size() && events[next].begin_s < end_s; ++next, is_more = true)
                loss_s += events[next].length_s;
            for (; background.next().begin_s < end_s; background.step(), is_more = true)
                loss_s += background.next().length_s;
        }
        if (loss_s > 0 && loss_s >= measurement.least_s)
            losses.push_back({node, cpu, begin_s, loss_s});
        begin_s += measurement.quantum_s + loss_s;
    }
    return begin_s;
}

} // namespace

double loss_of_classes(const model::NoiseMachine& machine) {
    double loss = 0;
    for (const NoiseClass& one : machine.classes) {
        uint32_t nodes = 0;
        for (uint32_t node = 0; node < machine.nodes; ++node)
            nodes += one.nodes.contains(node);
        const double cpus = one.scope == NoiseClass::Scope::node ? 1
                            : one.cpus.empty()                   ? machine.cpus_per_node
                                                                 : double(one.cpus.size());
        loss += one.frequency_hz * one.duration.mean_s * nodes / machine.nodes * cpus / machine.cpus_per_node;
    }
    return loss;
}

model::NoiseLosses make_noise_losses(const NoiseMeasurement& measurement) {
    const model::NoiseMachine& machine = measurement.machine;
    model::NoiseLosses result{.losses = {},
                              .nodes = machine.nodes,
                              .cpus_per_node = machine.cpus_per_node,
                              .measured_s = 0,
                              .least_s = measurement.least_s};
    // Long enough for every CPU: what a single CPU loses at most, and the longest event.
    double loss = measurement.background_loss, longest_s = 0;
    for (const NoiseClass& one : machine.classes) {
        loss += one.frequency_hz * one.duration.mean_s;
        longest_s = std::max(longest_s, one.duration.mean_s + 5 * one.duration.spread_s);
    }
    const double work_s = static_cast<double>(measurement.quanta) * measurement.quantum_s;
    const double until_s = work_s * (1 + 3 * loss) + 5 * longest_s + 1;
    double sum_s = 0;
    for (uint32_t node = 0; node < machine.nodes; ++node) {
        std::vector<std::vector<Event>> of_cpus(machine.cpus_per_node);
        for (size_t which = 0; which < machine.classes.size(); ++which)
            if (machine.classes[which].nodes.contains(node))
                add_events(machine.classes[which], mix(measurement.seed, which + 1), node, until_s, of_cpus);
        for (uint32_t cpu = 0; cpu < machine.cpus_per_node; ++cpu) {
            std::ranges::sort(of_cpus[cpu], {}, &Event::begin_s);
            const uint64_t seed = mix(mix(measurement.seed, ~uint64_t{0}), uint64_t{node} * machine.cpus_per_node + cpu);
            sum_s += run_quanta(measurement, of_cpus[cpu], Background(measurement, seed), node, static_cast<int32_t>(cpu),
                                result.losses);
        }
    }
    result.measured_s = sum_s / (double(machine.nodes) * machine.cpus_per_node);
    return result;
}

} // namespace plumb::tools
