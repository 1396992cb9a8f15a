// On which nodes something happens, as the shortest description: all, a repeating structure, or a list.
#pragma once

#include "model/noise.h"

#include <vector>

namespace plumb::noise {

// A structure is one only when it is a much shorter description than a list of the nodes: a few nodes that happen to have the
// same distance are none. Up to a tenth of the nodes may be exceptions. Empty offsets: all. `is_member[node]`.
model::NoiseNodes node_pattern(const std::vector<bool>& is_member);

} // namespace plumb::noise
