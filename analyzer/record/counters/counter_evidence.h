// What the report is to know of the counting itself: evidence "pmu" and "kernel-events".
#pragma once

#include "record/counters/countable_groups.h"
#include "record/run/node_trace_writer.h"

#include <set>
#include <string>

namespace plumb::record {

// `shared`, `unread`: events of which parts of the run were left out, since others used the counter, or since reading failed.
void write_counter_evidence(const CountableGroups& counted, const std::set<std::string>& shared, const std::set<std::string>& unread,
                            NodeTraceWriter& file);

} // namespace plumb::record
