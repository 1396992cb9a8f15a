// Sentences about a probe of a machine.
#pragma once

#include "probe/judge/outcome.h"

#include <string>
#include <vector>

namespace plumb {

std::string format_figure(double value, probe::Unit unit); // "162 ns", "27.4 GB/s", "3.69 GHz", "1.56"
// "162 ns (1 %)": the wider half of the interval, of the median, rounded up; where it is as wide as the median, its end as a
// multiple of the median: "42.6 ns (x4)".
std::string format_with_interval(const probe::Figure& figure);
std::string format_date(double since_1970_s); // "2026-11-28 03:10", local time

struct SlowCpuWords {
    int cpu = 0;
    std::string title, why; // a sentence; why it is slow, and who ran there
};
std::vector<SlowCpuWords> words_of_slow_cpus(const probe::ProbeOutcome& outcome); // one for each CPU, the slowest first

// What CPUs share by what was measured, and where the kernel says otherwise.
std::vector<std::string> words_of_shared_paths(const probe::ProbeOutcome& outcome);

} // namespace plumb
