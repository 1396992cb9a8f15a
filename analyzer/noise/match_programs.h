// Which of several programs had a CPU at each of the moments at which a program of the run lost it. Known are these moments, and
// how much CPU time each of the others used between two looks: a program that used, look by look, as much as losses of some lengths
// took is the one that they went to. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::noise {

struct LostPiece { // of one CPU
    uint64_t begin_ns = 0, end_ns = 0;
};

constexpr uint32_t kNoProgram = UINT32_MAX;

// The program of each piece, a row of `used_s`; kNoProgram where it is not clear. `pieces`: by begin; they do not overlap.
// `looks_ns`: ascending moments. used_s[program][i]: CPU time between looks i and i + 1 on this CPU, a few clock ticks of 10 ms
// uncertain. No program gets more than it used, within two ticks.
std::vector<uint32_t> match_programs(const std::vector<LostPiece>& pieces, const std::vector<uint64_t>& looks_ns,
                                     const std::vector<std::vector<double>>& used_s);

} // namespace plumb::noise
