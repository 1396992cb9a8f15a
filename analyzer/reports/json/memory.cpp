#include "reports/json/memory.h"

#include "analyses/memory/node_matrix.h"

#include <algorithm>

namespace plumb {

namespace {

Json node_shares(const NodeShares& shares) {
    Json list = Json::array();
    for (const auto& [node, fraction] : shares)
        list.push_back({{"node", node}, {"fraction", fraction}});
    return list;
}

Json object_row(const MemoryObjectRow& row) {
    Json held = Json::array(), used = Json::array();
    for (const MemoryPart& part : row.parts) {
        held.push_back(part.held_by);
        used.push_back(part.used_from);
    }
    return {{"name", row.subject},
            {"kind", row.kind},
            {"bytes", row.bytes},
            {"processes", row.processes},
            {"seconds", row.seconds},
            {"remote_seconds", row.remote_s},
            {"samples", row.samples},
            {"place", row.place},
            {"memory_nodes", node_shares(row.held_by)},
            {"cpu_nodes", node_shares(row.used_from)},
            {"part_memory_nodes", held},
            {"part_cpu_nodes", used}};
}

} // namespace

Json memory_object(const Report& report) {
    const model::Run& run = *report.run;
    if (!has_several_nodes(run))
        return nullptr;
    Json nodes = Json::array(), flows = Json::array(), over_time = Json::array();
    for (const model::Host& host : run.hosts) {
        for (const model::NumaNode& node : host.nodes)
            nodes.push_back({{"host", host.name},
                             {"node", node.node},
                             {"bytes", node.total_bytes},
                             {"cpus", node.cpus},
                             {"distances", node.distances}});
        for (const model::NodeMemory& memory : host.memory)
            over_time.push_back({{"host", host.name},
                                 {"node", memory.node},
                                 {"seconds", static_cast<double>(memory.time_ns - std::min(memory.time_ns, run.begin_ns)) * 1e-9},
                                 {"free_bytes", memory.free_bytes},
                                 {"file_bytes", memory.file_bytes},
                                 {"anonymous_bytes", memory.anonymous_bytes}});
    }
    const NodeTraffic& traffic = report.memory.traffic;
    Json objects = Json::array();
    for (const MemoryObjectRow& row : report.memory.objects)
        objects.push_back(object_row(row));
    for (const auto& [pair, flow] : traffic.matrix)
        flows.push_back({{"cpu_node", pair.first},
                         {"memory_node", pair.second},
                         {"seconds", flow.seconds},
                         {"samples", flow.samples}});
    return {{"nodes", nodes},
            {"traffic", flows},
            {"remote_fraction", traffic.remote_fraction()},
            {"samples", traffic.samples},
            {"unknown_samples", traffic.unknown_samples},
            {"objects", objects},
            {"objects_left_out", report.memory.objects_left_out},
            {"over_time", over_time}};
}

} // namespace plumb
