// How sampled events are named in every form of the report.
#pragma once

#include "analysis/event_summary.h"

#include <string>
#include <vector>

namespace plumb {

// With fewer samples a share is a guess.
inline constexpr uint64_t kLeastEventSamples = 20;

// "Data TLB misses by source line, 120 samples"
std::string event_title(const SampledEventRow& row);

// "by thread: worker (4711) 80 %, worker (4712) 15 %, and 3 more". Empty: there is one thread.
std::string event_threads(const SampledEventRow& row, size_t limit);

// "by region: solve 80 %, exchange 12 %". Empty: the program named none.
std::string event_regions(const SampledEventRow& row, size_t limit);

} // namespace plumb
