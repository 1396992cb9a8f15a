#include "analyses/memory/node_matrix.h"

#include <algorithm>

namespace plumb {

NodeTraffic node_traffic_of(const model::Run& run) {
    NodeTraffic traffic;
    for (const model::Process& process : run.processes)
        for (const model::MemoryEpoch& epoch : process.memory.epochs) {
            if (epoch.cpu_node < 0 || epoch.page_node < 0) {
                traffic.unknown_samples += epoch.samples;
                continue;
            }
            const double seconds = static_cast<double>(epoch.time_ns) * 1e-9;
            Flow& flow = traffic.matrix[{epoch.cpu_node, epoch.page_node}];
            flow.samples += epoch.samples;
            flow.seconds += seconds;
            traffic.samples += epoch.samples;
            traffic.seconds += seconds;
            traffic.remote_s += epoch.cpu_node != epoch.page_node ? seconds : 0;
        }
    return traffic;
}

bool has_several_nodes(const model::Run& run) {
    return std::ranges::any_of(run.hosts, [](const model::Host& host) { return host.nodes.size() > 1; });
}

} // namespace plumb
