#include "reports/html/page_memory.h"

#include "reports/html/rounded.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr size_t kMostNodes = 16, kMostMoments = 240, kMostObjects = 24;

Json moments_of(const NodeRow& row) {
    const size_t step = std::max<size_t>(1, (row.moments.size() + kMostMoments - 1) / kMostMoments);
    Json moments = Json::array();
    for (size_t at = 0; at < row.moments.size(); at += step) {
        const NodeMoment& moment = row.moments[at + step < row.moments.size() ? at : row.moments.size() - 1];
        moments.push_back(Json::array({rounded(moment.seconds, 1e6), moment.anonymous_bytes, moment.file_bytes, moment.free_bytes}));
    }
    return moments;
}

} // namespace

size_t charted_nodes(const MemorySummary& memory) { return std::min(memory.nodes.size(), kMostNodes); }

Json memory_chart_data(const MemorySummary& memory) {
    Json flows = Json::array(), objects = Json::array(), nodes = Json::array();
    for (const auto& [pair, flow] : memory.traffic.matrix)
        flows.push_back(Json::array({pair.first, pair.second, rounded(flow.seconds, 1e6), flow.samples}));
    for (size_t index = 0; index < memory.objects.size() && index < kMostObjects; ++index) {
        const MemoryObjectRow& row = memory.objects[index];
        Json parts = Json::array();
        for (const MemoryPart& part : row.parts)
            parts.push_back(Json::array({part.held_by, part.used_from}));
        objects.push_back({{"name", row.name},
                           {"bytes", row.bytes},
                           {"seconds", rounded(row.seconds, 1e6)},
                           {"remote_seconds", rounded(row.remote_s, 1e6)},
                           {"parts", parts}});
    }
    const bool one_host = std::ranges::all_of(memory.nodes, [&](const NodeRow& row) { return row.host == memory.nodes[0].host; });
    for (size_t index = 0; index < charted_nodes(memory); ++index) {
        const NodeRow& row = memory.nodes[index];
        nodes.push_back({{"host", one_host ? "" : row.host},
                         {"node", row.node},
                         {"bytes", row.total_bytes},
                         {"moments", moments_of(row)}});
    }
    return {{"flows", flows}, {"objects", objects}, {"nodes", nodes}};
}

} // namespace plumb
