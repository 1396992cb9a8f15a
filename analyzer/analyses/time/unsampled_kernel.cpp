#include "analyses/time/unsampled_kernel.h"

#include "analyses/time/spin_loop_at.h"

#include <algorithm>

namespace plumb {

namespace {

bool is_sampled_in_user_mode_alone(const model::Run& run, const model::Process& process) {
    const bool is_limited = std::ranges::any_of(run.evidence, [](const model::Evidence& evidence) {
        return evidence.source == "perf-sampling" && evidence.state == model::Evidence::State::limited;
    });
    return is_limited &&
           std::ranges::none_of(process.samples, [](const model::SampleSite& site) { return site.kernel_samples > 0; });
}

// 0: the site is in no such call.
double yield_kernel_factor(const model::Process& process, const model::SampleSite& site) {
    const model::SpinLoop* loop = yielding_loop_at(process, site.path);
    return loop ? loop->yield_kernel_factor : 0;
}

} // namespace

double UnsampledKernel::weight_ns(const model::Process& process, const model::SampleSite& site) const {
    const bool yields = per_yield > 0 && yield_kernel_factor(process, site) > 0;
    return static_cast<double>(site.time_ns) * (yields ? 1 + per_yield : 1);
}

UnsampledKernel unsampled_kernel_of(const model::Run& run, const model::Process& process, uint32_t index) {
    const model::Thread& thread = process.threads[index];
    const double all_ns = static_cast<double>(thread.user_ns) + static_cast<double>(thread.system_ns);
    if (thread.system_ns == 0 || !is_sampled_in_user_mode_alone(run, process))
        return {};
    const double share = static_cast<double>(thread.system_ns) / all_ns;
    if (process.spin_loops.empty())
        return {share, 0, 0};
    double sampled_ns = 0, calls_ns = 0, in_kernel_ns = 0;
    for (const model::SampleSite& site : process.samples)
        if (site.thread == index) {
            sampled_ns += static_cast<double>(site.time_ns);
            if (const double factor = yield_kernel_factor(process, site); factor > 0) {
                calls_ns += static_cast<double>(site.time_ns);
                in_kernel_ns += static_cast<double>(site.time_ns) * factor;
            }
        }
    if (calls_ns <= 0 || share >= 1)
        return {share, 0, 0};
    const double yields = std::min(share, (1 - share) * in_kernel_ns / sampled_ns); // of the thread's CPU time
    return {share - yields, yields, yields / (1 - share) * sampled_ns / calls_ns};
}

} // namespace plumb
