// The numbers behind the charts of NUMA nodes (page/src/data.ts has their types), brought to a size that a page can show.
#pragma once

#include "reports/json/document.h"

namespace plumb {

// How many of the nodes the page draws.
size_t charted_nodes(const MemorySummary& memory);

Json memory_chart_data(const MemorySummary& memory);

} // namespace plumb
