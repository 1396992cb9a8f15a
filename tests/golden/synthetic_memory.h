// NUMA nodes and what is on them, for a run of one process.
#pragma once

#include "model/run.h"

namespace plumb::synthetic {

// One thread a node, CPU n on node n. Objects, blocks of 64 MiB, in turn: touched by the first thread and read by all;
// touched by it, and each thread uses a part of its own; spread over the nodes, where each uses what lies on its own.
void add_memory_nodes(model::Run& run, int nodes, int objects);

} // namespace plumb::synthetic
