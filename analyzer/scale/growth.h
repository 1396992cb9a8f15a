// What takes longer at one point of a sweep than at another: by class of time, source line and library.
#pragma once

#include "scale/scaling.h"

namespace plumb::scale {

// Both have runs. In ideal strong scaling the thread time of all parts together stays the same, and with copies that of each
// copy: what grows is the loss.
Growth growth_between(const std::vector<ScalePoint>& points, size_t from, size_t to);

} // namespace plumb::scale
