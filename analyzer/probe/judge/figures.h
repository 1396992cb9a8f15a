// What was measured as figures, each with its interval: what is printed, kept and compared. Pure.
#pragma once

#include "probe/measured.h"
#include "statistics/spread.h"

#include <string>
#include <vector>

namespace plumb::probe {

enum class Unit : uint8_t { seconds, bytes_per_s, hertz, ratio };
const char* name_of(Unit unit); // "s", "bytes/s", "Hz", "ratio"
bool is_rate(Unit unit);         // more is better; of the others less

struct Figure {
    std::string test, place; // "memory latency", "CPU 3"
    Unit unit = Unit::seconds;
    statistics::Spread spread; // of rounds, as a series: its interval holds what drifted in the time of the probe
};

// Values of a kind by which CPUs are compared, by round: nanoseconds of an operation by the wall clock, and of the clock in the
// fastest part of each turn.
std::vector<double> values_of(const CpuTurns& cpu, CpuTest test);

// Of a CPU: how much of the time its thread had it, over all turns.
double share_of_cpu(const CpuTurns& cpu);

std::vector<Figure> figures_of(const Measured& measured);
const Figure* find(const std::vector<Figure>& figures, const std::string& test, const std::string& place);

std::string place_of(int cpu);
std::string place_of_pair(int first, int second);
std::string place_of_node(const NodeTurns& node);

} // namespace plumb::probe
