#include "analyses/time/spinning.h"

#include "analyses/time/allocator_code.h"
#include "analyses/time/own_time.h"
#include "analyses/time/parallel_runtime.h"
#include "analyses/time/spin_loop_at.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/unsampled_kernel.h"

namespace plumb {

std::vector<Spinning> spinning_of(model::CallPaths& paths) {
    AllocatorCode allocator(paths);
    std::vector<Spinning> all;
    for (uint32_t index = 0; index < paths.run().processes.size(); ++index) {
        const model::Process& process = paths.run().processes[index];
        if (process.spin_loops.empty())
            continue;
        std::vector<double> sampled_ns(process.threads.size());
        std::vector<UnsampledKernel> unsampled;
        for (uint32_t thread = 0; thread < process.threads.size(); ++thread)
            unsampled.push_back(unsampled_kernel_of(paths.run(), process, thread));
        for (const model::SampleSite& site : process.samples)
            if (site.thread < sampled_ns.size())
                sampled_ns[site.thread] += unsampled[site.thread].weight_ns(process, site);
        for (const model::SampleSite& site : process.samples) {
            const bool in_kernel = site.kernel_samples * 2 > site.samples;
            const model::SpinLoop* loop = in_kernel ? yielding_loop_at(process, site.path) : spin_loop_at(process, site.path);
            if (!loop || site.thread >= sampled_ns.size() || site.time_ns == 0 ||
                is_own_code(paths, index, site.path) || allocator.contains(index, site.path) ||
                parallel_runtime_of(paths, index, site.path) != ParallelRuntime::none)
                continue;
            const model::Thread& thread = process.threads[site.thread];
            const double share = unsampled[site.thread].weight_ns(process, site) / sampled_ns[site.thread] *
                                 (1 - unsampled[site.thread].share);
            const double running_ns = static_cast<double>(thread.wall_on_cpu_ns());
            all.push_back({index, site.thread, site.path, loop, site.samples, share * thread_times(thread).run_s,
                           running_ns > 0 ? share * running_ns : 0});
        }
    }
    return all;
}

} // namespace plumb
