#include "analyses/time/own_time.h"

namespace plumb {

namespace {

double sampled_in_shim(const model::CallPaths& paths) {
    double seconds = 0;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); ++process)
        for (const model::SampleSite& site : processes[process].samples)
            if (is_own_code(paths, process, site.path))
                seconds += static_cast<double>(site.time_ns) * 1e-9;
    return seconds;
}

} // namespace

bool is_own_code(const model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    if (node >= nodes.size())
        return false;
    const model::Module* module = paths.module_of(process, nodes[node].address);
    return module && model::is_shim_module(module->path);
}

OwnTime own_time_of(const model::CallPaths& paths) {
    OwnTime own;
    for (const model::Host& host : paths.run().hosts) {
        own.recorder += static_cast<double>(host.recorder_cpu_ns) * 1e-9;
        own.sampling += static_cast<double>(host.samples) * static_cast<double>(host.sample_cost_ns) * 1e-9;
        own.samples += host.samples;
    }
    for (const model::Process& process : paths.run().processes) {
        own.shim += static_cast<double>(process.own_cost_ns) * 1e-9;
        own.stand_ins += static_cast<double>(process.alignment.stand_in_ns) * 1e-9;
    }
    const double sampled = sampled_in_shim(paths);
    own.shim_was_sampled = sampled > own.shim;
    if (own.shim_was_sampled)
        own.shim = sampled;
    return own;
}

} // namespace plumb
