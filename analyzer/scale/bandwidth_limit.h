// Whether memory bandwidth is what keeps more threads, ranks or copies from doing more work.
#pragma once

#include "scale/scaling.h"

#include <optional>
#include <string>

namespace plumb::scale {

// Medians over the runs of a point. Nothing: in half of them or more no loop over large arrays was seen. `where` is that of
// one of the runs.
std::optional<BandwidthSummary> bandwidth_of(const ScalePoint& point);

// "function at file:line", as the names of lines that grow; empty: not known.
std::string place_of(const BandwidthSummary& bandwidth);

// Most of the time is spent in loops over large arrays, they move nearly all that as many threads can move, and that is less
// than so many times what one can.
bool is_limit(const BandwidthSummary& bandwidth);

} // namespace plumb::scale
