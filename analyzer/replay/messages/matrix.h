// Who sent how much to whom.
#pragma once

#include "model/run.h"
#include "replay/events/job.h"

namespace plumb::replay {

inline constexpr uint32_t kMostMatrixRows = 512;

// Messages sent, and one-sided transfers by the direction in which data went, in bins of ranks where there are more than
// kMostMatrixRows.
model::MpiMatrix communication_matrix(const model::Run& run, const Job& job);

// Messages sent, by size.
model::SizeHistogram message_sizes(const model::Run& run, const Job& job);

} // namespace plumb::replay
