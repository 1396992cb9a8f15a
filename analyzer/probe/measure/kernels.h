// The pieces of work that are timed. Each does what its name says and nothing that a compiler could leave out.
#pragma once

#include <cstdint>

namespace plumb::probe {

// Multiplications of six independent numbers: they keep the multiplier busy, so that a second hardware thread of the core
// gets half of it. Returns how many there were.
uint64_t multiply(uint64_t rounds);

// Additions, each of which waits for the one before: one a cycle. Returns how many.
uint64_t add_in_a_row(uint64_t rounds);

// Follows pointers from `at`, `count` times; returns where it arrived.
void** follow(void** at, uint64_t count);

// Loads each line of `bytes` (a multiple of 256).
void read_lines(const char* from, uint64_t bytes);

// The time stamp counter; 0: this machine has none that a program may read.
uint64_t time_stamp();

} // namespace plumb::probe
