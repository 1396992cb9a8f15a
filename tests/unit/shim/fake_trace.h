// Stands in for the trace file in unit tests of what records: keeps every record in memory.
#pragma once

#include <plumb/trace_format.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace plumb::test {

struct FakeTrace {
    std::deque<trace::PathNode> nodes;
    std::deque<trace::HeapSite> sites;
    std::deque<trace::HeapTotals> totals;
    std::deque<trace::LargeMap> maps;
    std::deque<trace::MpiRank> mpi_ranks;
    std::deque<trace::MpiComm> mpi_comms;
    std::deque<trace::MpiInside> mpi_inside;
    std::deque<trace::MpiSite> mpi_sites;
    std::deque<trace::MpiPeer> mpi_peers;
    std::deque<std::vector<uint64_t>> free_records; // of append_free_records()
    std::vector<std::string> strings;               // [id - 1]
    uint64_t limit_bytes = 8 << 20;
    bool full = false; // refuse everything

    // Those of a type that are in use, whose place says so: trace::MpiCollective, trace::MpiMessage.
    template <class Record> std::vector<Record> events(trace::RecordType type) const {
        std::vector<Record> found;
        for (const auto& chunk : free_records)
            for (size_t at = 0; at * 8 < chunk.size() * 8; at += sizeof(Record) / 8) {
                const auto& record = reinterpret_cast<const Record&>(chunk[at]);
                if (record.header.type != static_cast<uint16_t>(type))
                    break;
                if (record.site != 0)
                    found.push_back(record);
            }
        return found;
    }

    // The addresses of a path, innermost first.
    std::vector<uint64_t> path(trace::NodeId id) const;
};
FakeTrace& fake_trace();

} // namespace plumb::test
