// One rank's way from each collective of all ranks to the next, and by how much noise made it longer.
#pragma once

#include "replay/collectives/epochs.h"
#include "replay/messages/chains.h"
#include "replay/messages/messages.h"
#include "replay/noise/joints.h"
#include "replay/noise/takers.h"

#include <functional>
#include <vector>

namespace plumb::replay {

struct RankStep {
    uint32_t place = 0; // of the joint at its end (joints.h)
    // From the last arrival at the joint before, or from when this rank left a collective where that is not known, until it
    // came to this one; and when it left this one.
    Nanoseconds begin = 0, arrived = 0, left = 0;
    // How much sooner it would have come, had each taker not taken its CPU, nor that of a rank for which it waited.
    Takers::Sums removed{};
    // Of the way, how long it waited for messages and collectives of other ranks; and what each taker took of the rest.
    Nanoseconds waited = 0;
    Takers::Sums taken_at_work{};

    Nanoseconds without(size_t taker) const { return std::max(Nanoseconds{0}, removed[taker]); }
    Nanoseconds without_noise(const Takers& takers) const; // without all takers that are noise
    Nanoseconds work(const Takers& takers) const; // of the way, what was neither waiting nor noise
};

// For RankEvents::visit().
class StepReader {
  public:
    using Sink = std::function<void(const RankStep&)>;
    StepReader(const Takers& takers, const EpochTable& epochs, const MatchedMessages& messages, const Joints& joints,
               uint32_t row, Sink sink)
        : takers_(takers), epochs_(epochs), messages_(messages), joints_(joints), row_(row), sink_(std::move(sink)) {}

    void operator()(const Collective& event);

  private:
    struct Waited {
        Nanoseconds begin = 0, end = 0;
        uint32_t awaited = UINT32_MAX;
    };

    void remember_wait(const Epoch& epoch, const Collective& event);
    void add_wait(const Waited& wait, const std::vector<Causes::Part>& causes, RankStep& step) const;

    static constexpr size_t kMostWaits = 1 << 12;
    const Takers& takers_;
    const EpochTable& epochs_;
    const MatchedMessages& messages_;
    const Joints& joints_;
    const uint32_t row_;
    Sink sink_;
    std::vector<Waited> in_collectives_; // since the latest joint
    size_t hint_ = 0;
};

} // namespace plumb::replay
