// The numbers behind the charts of a measurement of noise (page/src/data.ts has their types).
#pragma once

#include "reports/json/document.h"

namespace plumb {

// The number of nodes after which classes of noise repeat; 0: none was found.
uint32_t repeating_nodes(const NoiseSummary& noise);

Json noise_chart_data(const Report& report); // of a report that has one

} // namespace plumb
