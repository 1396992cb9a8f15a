#include "analyses/time/short_lived.h"

#include <algorithm>

namespace plumb {

namespace {
constexpr uint64_t kPeriods = 2; // the first sample is due after one of them, with some delay
}

bool is_short_lived(const model::Run& run, const model::Process& process) {
    const auto host = std::ranges::find(run.hosts, process.host, &model::Host::name);
    const uint64_t period_ns = host != run.hosts.end() ? host->sample_period_ns : 0;
    return process.samples.empty() && process.blocked.empty() &&
           std::ranges::all_of(process.threads,
                               [&](const model::Thread& thread) { return thread.run_ns < kPeriods * period_ns; });
}

} // namespace plumb
