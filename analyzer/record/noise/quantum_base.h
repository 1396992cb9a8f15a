// What a quantum takes when nothing disturbs it, and by how much such quanta differ. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::record {

struct QuantumBase {
    uint64_t quantum_ns = 0; // the fastest ones: one in a thousand is as fast, at least three are
    uint64_t floor_ns = 0;   // a quantum that is longer by less than this may not have been disturbed at all
};

// The floor: undisturbed quanta lie around a common duration, above it as far as below it. Below it there is nothing but them, so
// their lower half shows their spread; the upper one may be hidden under disturbed quanta. The common duration: the middle of the
// shortest interval that holds a twentieth of all, in the lowest pile of durations; where many quanta are disturbed alike, by one
// timer interrupt each, theirs is a higher pile. Four times its distance from the fastest ones, at least 100 ns, which is what
// reading a clock may vary by. `durations_ns`: at least one, in any order.
QuantumBase base_of(std::vector<uint64_t> durations_ns);

} // namespace plumb::record
