#include "analyses/time/own_time.h"

#include <cmath>

namespace plumb {

namespace {

// Of one call of the hooks of malloc and free in sample mode, against calling the functions themselves (tests/bench/bench_malloc.py).
constexpr double kHeapCall_s = 2.5e-9;
// Of the time sampled in the shim: the rest stood in the allocator before. Who calls malloc waits at its first instructions for
// what the call itself needs (the jump, its code), and these are the shim's now. In g++ 57 % of the samples in the hooks were
// missing in the C library's allocator; mawk's CPU time rose by a third of them.
constexpr double kAdded = 0.5;

struct SampledTime {
    double seconds = 0;
    uint64_t samples = 0;

    // Less than that would hardly be seen if the truth were `expected`.
    bool exceeds(double expected) const {
        return samples > 0 && seconds * (1 - 2 / std::sqrt(static_cast<double>(samples))) > expected;
    }
};

SampledTime sampled_in_shim(const model::CallPaths& paths) {
    SampledTime sampled;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); ++process)
        for (const model::SampleSite& site : processes[process].samples)
            if (is_own_code(paths, process, site.path)) {
                sampled.seconds += static_cast<double>(site.time_ns) * 1e-9 * kAdded;
                sampled.samples += site.samples;
            }
    return sampled;
}

double load_cost_s(const model::Run& run, const model::Process& process) {
    for (const model::Host& host : run.hosts)
        if (host.name == process.host || run.hosts.size() == 1)
            return static_cast<double>(host.load_cost_ns) * 1e-9;
    return 0;
}

double heap_calls_s(const model::Heap& heap) {
    return static_cast<double>(heap.allocations + heap.frees + heap.reallocations) * kHeapCall_s;
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
        own.switches += static_cast<double>(host.switches_cost_ns) * 1e-9;
    }
    for (const model::Process& process : paths.run().processes) {
        own.shim += static_cast<double>(process.own_cost_ns) * 1e-9 + heap_calls_s(process.heap);
        own.loading += process.shim_loads * load_cost_s(paths.run(), process);
        own.stand_ins += static_cast<double>(process.alignment.stand_in_ns) * 1e-9;
    }
    const SampledTime sampled = sampled_in_shim(paths);
    own.shim_was_sampled = sampled.exceeds(own.shim);
    if (own.shim_was_sampled)
        own.shim = sampled.seconds;
    return own;
}

} // namespace plumb
