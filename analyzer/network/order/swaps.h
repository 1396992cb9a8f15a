// Improves an order of ranks by letting two of them change places, as long as that saves hop-bytes.
#pragma once

#include "network/machine/network.h"
#include "network/job/traffic.h"

#include <chrono>

namespace plumb::network {

using Deadline = std::chrono::steady_clock::time_point;

// `node_of`: of each rank. Tries, for each rank in turn, those near the partners that it exchanges most with; ends when a round of all
// ranks saves less than a thousandth, or at the deadline. The result never costs more, and depends on no chance but the deadline.
void improve_by_swaps(const Network& network, const Partners& partners, std::vector<NodeIndex>& node_of, Deadline deadline);

} // namespace plumb::network
