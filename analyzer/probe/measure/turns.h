// One turn of each kind of work, by the calling thread: it works for a given time and counts what it did.
#pragma once

#include "probe/measure/arena.h"
#include "probe/measured.h"

#include <cstdint>

namespace plumb::probe {

Turn compute_turn(uint64_t length_ns);
Turn clock_turn(uint64_t length_ns);
Turn follow_turn(void**& place, uint64_t length_ns); // goes on at `place`, and leaves there where it ended
Turn read_turn(const char* data, uint64_t bytes, uint64_t& offset, uint64_t length_ns); // goes round, from `offset` on

double clock_read_ns(); // what one reading of the clock takes
double time_stamps_per_s(uint64_t length_ns); // 0: there are none

} // namespace plumb::probe
