#include "analyses/time/unsampled_kernel.h"

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

} // namespace

double unsampled_kernel_share(const model::Run& run, const model::Process& process, const model::Thread& thread) {
    const double all_ns = static_cast<double>(thread.user_ns) + static_cast<double>(thread.system_ns);
    if (thread.system_ns == 0 || !is_sampled_in_user_mode_alone(run, process))
        return 0;
    return static_cast<double>(thread.system_ns) / all_ns;
}

} // namespace plumb
