#include "reports/json_memory.h"

#include "diagnoses/node_matrix.h"

#include <algorithm>

namespace plumb {

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
    const NodeTraffic traffic = node_traffic_of(run);
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
            {"over_time", over_time}};
}

} // namespace plumb
