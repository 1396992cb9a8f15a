// The events of a class that were recorded one by one, played again and again from a random moment on. A larger machine has
// the recorded nodes several times, each copy at a moment of its own: what happened at once on the CPUs of a node still does.
#pragma once

#include "model/noise.h"
#include "simulate/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace plumb::simulate {

class RecordedEvents {
  public:
    // All classes of one seed are moved alike. `together`: each node has the events of the one that was disturbed the most, all
    // at the same moment.
    RecordedEvents(std::shared_ptr<const model::NoiseLosses> losses, uint64_t seed, bool together);

    // As EventTrain::for_each(), of one CPU of a node.
    template <class OnEvent> void for_each(uint32_t node, uint32_t cpu, double from_s, double to_s, OnEvent& on_event) const {
        if (cpu >= losses_->cpus_per_node)
            return;
        const auto nodes = losses_->nodes;
        const uint32_t recorded = together_ ? most_disturbed_ : node % nodes;
        const size_t stream = size_t{recorded} * losses_->cpus_per_node + cpu;
        const size_t first = starts_[stream], end = starts_[stream + 1];
        if (first == end)
            return;
        const double span_s = losses_->measured_s;
        const double shift_s = span_s * fraction_of(key_of(key_, together_ ? 0 : node / nodes));
        const auto begin_of = [&](size_t place) { return losses_->losses[place].begin_s; };
        const double rounding_s = 1e-9 + to_s * 1e-12; // the exact test is that of begin_s
        for (auto turn = static_cast<int64_t>(std::floor((from_s + shift_s - rounding_s) / span_s));; turn++) {
            const double offset_s = static_cast<double>(turn) * span_s - shift_s;
            if (offset_s >= to_s)
                return;
            size_t low = first, high = end;
            while (low < high) {
                const size_t middle = low + (high - low) / 2;
                begin_of(middle) + offset_s < from_s ? low = middle + 1 : high = middle;
            }
            for (; low < end && begin_of(low) + offset_s < to_s; low++)
                on_event(turn * static_cast<int64_t>(losses_->losses.size()) + static_cast<int64_t>(low), begin_of(low) + offset_s);
        }
    }

    double length_s(int64_t number) const {
        const auto count = static_cast<int64_t>(losses_->losses.size());
        return losses_->losses[static_cast<size_t>((number % count + count) % count)].length_s;
    }

  private:
    std::shared_ptr<const model::NoiseLosses> losses_;
    std::vector<size_t> starts_; // of each CPU of each node, in the losses; and their end
    uint64_t key_;
    uint32_t most_disturbed_ = 0;
    bool together_;
};

} // namespace plumb::simulate
