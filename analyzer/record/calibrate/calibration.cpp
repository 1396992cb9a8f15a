#include "record/calibrate/calibration.h"

#include "platform/read_file.h"
#include "record/calibrate/sample_cost.h"
#include "record/calibrate/yield_timing.h"

#include <sstream>
#include <string>

namespace plumb::record {

namespace {

constexpr uint64_t kShareOfRun = 100;             // one part of so many
constexpr uint64_t kLeastForSamples_ns = 4'000'000; // some pairs of runs at the shortest period
constexpr unsigned kPairsToKeep = 6;

// Costs of samples differ by what the kernel copies with them.
std::string name_of(const perf_event_attr& event) {
    return "sample-cost " + std::to_string(event.sample_type) + " " + std::to_string(event.sample_regs_user) + " " +
           std::to_string(event.sample_stack_user) + " " + std::to_string(event.exclude_kernel) +
           std::to_string(event.exclude_callchain_user) + std::to_string(event.exclude_callchain_kernel);
}

} // namespace

uint64_t Calibration::left_ns() const {
    const uint64_t allowed_ns = run_cpu_ns_ / kShareOfRun;
    return allowed_ns > spent_ns_ ? allowed_ns - spent_ns_ : 0;
}

uint64_t Calibration::sample_cost_ns(const perf_event_attr& event, uint64_t (*clock)()) {
    const std::string name = name_of(event);
    if (const auto known = cache_.find(name))
        if (const uint64_t ns = platform::to_u64(*known))
            return ns;
    if (left_ns() < kLeastForSamples_ns)
        return 0;
    const uint64_t begin_ns = own_cpu_ns();
    const SampleCost cost = measure_sample_cost(event, left_ns() / 2, clock); // there are samples of two kinds
    spent_ns_ += own_cpu_ns() - begin_ns;
    if (cost.ns > 0 && cost.pairs >= kPairsToKeep)
        cache_.keep(name, std::to_string(cost.ns));
    return cost.ns;
}

uint64_t Calibration::yield_kernel_milli() {
    constexpr const char* kName = "yield-samples";
    YieldSamples samples;
    if (const auto known = cache_.find(kName))
        std::istringstream(*known) >> samples.in_call >> samples.in_caller >> samples.period_ns >> samples.all_ns;
    if (!samples.are_enough()) {
        const uint64_t begin_ns = own_cpu_ns();
        add_yield_samples(left_ns(), samples);
        spent_ns_ += own_cpu_ns() - begin_ns;
        cache_.keep(kName, std::to_string(samples.in_call) + " " + std::to_string(samples.in_caller) + " " +
                               std::to_string(samples.period_ns) + " " + std::to_string(samples.all_ns));
    }
    return samples.kernel_milli();
}

} // namespace plumb::record
