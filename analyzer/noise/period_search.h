// Is there a train of periodic events among the losses of similar length, on many CPUs or nodes at once, each at its own phase?
//
// The distances of events within each CPU (or node) are pooled: a period stands out among them however few events each has. A
// period counts only when trains with it are much likelier than trains with other periods among the same events, and than
// trains with it among as many events at random times: bursts and chance then explain nothing.
#pragma once

#include "noise/event_train.h"
#include "noise/loss_streams.h"

#include <optional>

namespace plumb::noise {

struct FoundPeriod {
    LengthBand band;
    LossStreams::Level level = LossStreams::Level::cpu; // whose events make the trains
    TrainModel model;
    double score = 0, control = 0; // of the trains; of those that are there by chance
    double net() const { return score - control; }
};

// The best one; looks at a part of the machine where there are many losses. What is explained already does not count.
std::optional<FoundPeriod> search_period(const LossStreams& streams, LengthBand band);

// A train this unlikely to be chance counts on a single CPU or node; `others`: among how many it was chosen.
bool is_own_train(const EventTrain& train, size_t others);

} // namespace plumb::noise
