// The noise that reaches each rank of a job: the classes of a machine, laid on the job's nodes and CPUs.
//
// What is assumed: rank r runs on CPU r % P of its node and nowhere else. An event of a class that takes one CPU of a node goes
// to a CPU without a rank where the class may use one, which then costs nothing: that CPU takes all such events, one after the
// other. Else it takes one of the CPUs that the class may use, each with the same probability. An event of a class of CPUs
// stays on its CPU; but of recorded events, a CPU that a rank left since they were recorded takes all of its node, as if their
// makers were confined to it. Noise begins at time 0 on CPUs that are free.
#pragma once

#include "model/noise.h"
#include "simulate/event_train.h"
#include "simulate/job.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace plumb::simulate {

struct NoiseEvent {
    double begin_s = 0;
    double length_s = 0;
    uint32_t noise_class = 0; // index in the machine's classes
};

class RankNoise {
  public:
    // Keeps references to both, which must outlive it. Throws Error, naming the class or the CPU: a class on a CPU that nodes
    // do not have, classes that leave nothing of a rank's CPU.
    RankNoise(const model::NoiseMachine& machine, const Job& job, uint64_t seed);

    // Adds the events of the rank's CPU with from_s <= begin_s < to_s, ascending; those from before 0 do not exist.
    void gather(uint32_t rank, double from_s, double to_s, std::vector<NoiseEvent>& events) const;

    // Calls on_begin(begin_s, rank) for all events of one class that reach ranks, in no order.
    template <class OnBegin> void each_of_class(uint32_t noise_class, double from_s, double to_s, OnBegin on_begin) const;

    // Whether any event of the class reaches a rank of the job.
    bool is_felt(uint32_t noise_class) const { return felt_nodes_[noise_class] > 0; }
    // Whether each period of the class is as the one before: the same sources at the same places, on the same ranks.
    bool is_repeating(uint32_t noise_class) const;
    double events_hz(uint32_t noise_class) const; // that reach ranks, of the whole job
    const EventTrain& train(uint32_t noise_class) const { return classes_[noise_class].train; }
    const model::NoiseMachine& machine() const { return *machine_; }
    const Job& job() const { return *job_; }
    uint32_t physical_node(uint32_t node_of_job) const;

  private:
    struct Placed {
        EventTrain train;
        bool takes_one_cpu;
        std::vector<uint16_t> cpus; // of a node, where it may happen, ascending
    };

    bool is_absorbed(uint32_t noise_class, uint32_t ranks_on_node) const;
    void check_share_left(const std::vector<uint16_t>& kind) const;
    void place_left_out();

    const model::NoiseMachine* machine_;
    const Job* job_;
    std::vector<Placed> classes_;
    std::vector<uint32_t> felt_nodes_;         // of each class: nodes of the job with ranks that it reaches
    std::vector<std::vector<uint16_t>> kinds_; // of nodes: the classes that reach ranks there
    std::vector<uint16_t> kind_of_node_;
    // Single nodes that the job leaves out, by their places among the nodes that left_out_every keeps; ascending.
    std::vector<uint32_t> left_out_places_;
};

template <class OnBegin>
void RankNoise::each_of_class(uint32_t noise_class, double from_s, double to_s, OnBegin on_begin) const {
    const Placed& placed = classes_[noise_class];
    if (from_s < 0)
        from_s = 0;
    const auto candidates = static_cast<uint32_t>(placed.cpus.size());
    for (uint32_t node = 0; node < kind_of_node_.size(); node++) {
        const std::vector<uint16_t>& kind = kinds_[kind_of_node_[node]];
        if (!std::ranges::binary_search(kind, noise_class))
            continue;
        const uint32_t physical = physical_node(node), first = node * job_->ranks_per_node, here = job_->ranks_on(node);
        if (placed.takes_one_cpu) {
            const uint64_t source = EventTrain::source_of_node(physical);
            placed.train.for_each(source, from_s, to_s, [&](int64_t number, double begin_s) {
                on_begin(begin_s, first + placed.cpus[placed.train.chosen(source, number, candidates)]);
            });
        } else {
            for (const uint32_t cpu : placed.cpus)
                if (cpu < here)
                    placed.train.for_each(EventTrain::source_of_cpu(physical, cpu), from_s, to_s,
                                          [&](int64_t, double begin_s) { on_begin(begin_s, first + cpu); });
        }
    }
}

} // namespace plumb::simulate
