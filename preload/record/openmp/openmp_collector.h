// What threads do in OpenMP, as the hooks in front of the runtime see it (hooks/openmp/).
#pragma once

#include "record/collector.h"

namespace plumb::shim {

extern const Collector openmp_collector;

namespace openmp {
bool collects(); // signal-safe
}

} // namespace plumb::shim
