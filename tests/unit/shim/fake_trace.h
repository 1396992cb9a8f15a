// Stands in for the trace file in unit tests of what records: keeps every record in memory.
#pragma once

#include <plumb/trace_format.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace plumb::test {

struct FakeTrace {
    std::deque<trace::PathNode> nodes;
    std::deque<trace::HeapSite> sites;
    std::deque<trace::HeapTotals> totals;
    std::deque<trace::LargeMap> maps;
    std::deque<trace::LargeUnmap> unmaps;
    bool full = false; // refuse everything

    // The addresses of a path, innermost first.
    std::vector<uint64_t> path(trace::NodeId id) const;
};
FakeTrace& fake_trace();

} // namespace plumb::test
