// Fixed work: what a quantum consists of, and how much of it takes a wanted time.
#pragma once

#include <cstdint>

namespace plumb::record {

// `rounds` additions and multiplications, each of which needs the result before. Registers only: no memory, no calls.
uint64_t do_work(uint64_t rounds, uint64_t value);

// How many rounds take `quantum_ns` on the CPU that the caller is bound to when nothing disturbs it: by the fastest of many
// short tries, so that others that use the CPU meanwhile do not matter. Takes some milliseconds of CPU time; at least 1.
uint64_t rounds_for(uint64_t quantum_ns);

} // namespace plumb::record
