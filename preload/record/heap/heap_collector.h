// The collector "heap": allocations by call path (PLUMB_HEAP: sample, full or off).
#pragma once

#include "record/collector.h"

namespace plumb::shim {

extern const Collector heap_collector;

} // namespace plumb::shim
