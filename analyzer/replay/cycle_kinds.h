// Which cycles of a job do the same. A program whose cycles differ by design loses nothing: every tenth one writes a file, two
// steps alternate, the grid grows. Such cycles are of different kinds, and only those of one kind are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::replay {

struct CyclePattern {
    size_t period = 1;    // in cycles; 1: none
    bool is_long = false; // the period is too long to compare each place in it: only the long cycle at `offset` differs
    size_t offset = 0;
    bool drifts = false;  // how long cycles take depends on the part of the run by more than chance
};

// `times`: of all cycles in order, any unit, positive. Without the time that their ranks waited for a CPU, where that is known:
// what disturbs a program may be as regular as the program.
//  - Period: of 2 to 64 cycles, the smallest with which the place in the period explains as much of the variance of the
//    logarithm as with any other (adjusted R^2), if that is far beyond chance and does not come regularly in time instead; else
//    the distance between long cycles, if four in five of them follow one another at the same.
//  - Drift: the Kruskal-Wallis statistic over up to 16 stretches of the run.
// Nothing is found in fewer than 40 cycles.
CyclePattern pattern_of(const std::vector<double>& times);

// The kind of each cycle, numbered from 0 in no order: by `signature` (what a cycle did, as far as it is known), its place in
// the pattern, and its stretch of the run. `signature` has one element a cycle.
std::vector<uint32_t> kinds_of(const CyclePattern& pattern, const std::vector<uint64_t>& signature);

} // namespace plumb::replay
