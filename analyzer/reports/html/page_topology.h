// The numbers behind the charts of a job in a network (page/src/data.ts has their types).
#pragma once

#include "network/study.h"
#include "reports/json/document.h"

namespace plumb {

// Whether the picture is small enough for a page.
bool has_network_picture(const network::Study& study);

Json topology_chart_data(const network::Study& study);

} // namespace plumb
