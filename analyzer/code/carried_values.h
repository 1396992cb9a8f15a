// Floating point values that a loop carries from round to round: sums and other reductions, whose order only the language
// fixes, and recurrences, in which each round needs the result of the one before.
#pragma once

#include "code/loop_round.h"
#include "code/loop_streams.h"

#include <cstdint>
#include <vector>

namespace plumb::code {

struct CarriedValue {
    enum class Kind : uint8_t {
        sum,       // also of products
        product,
        extreme,   // minimum or maximum
        induction, // a number that each round adds the same to, used in the round
        recurrence,
    };
    Kind kind = Kind::recurrence;
    bool in_memory = false; // stored in one round and loaded in a later one
    double cycles = 0;      // from one round to the next at least, if instructions take what they take on current processors
    bool scalar = true;     // at least one of its instructions takes a single element
    uint8_t element_bytes = 0;
};

std::vector<CarriedValue> carried_values(const ControlFlow& flow, const std::vector<RoundBlock>& round, const LoopStreams& streams);

// Of an operation on registers, in cycles: about what x86-64 processors since 2015 take (Fog, "Instruction tables").
double latency_of(const Operation& operation);

} // namespace plumb::code
