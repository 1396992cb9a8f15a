#include "record/calibrate/calibration.h"

#include "platform/read_file.h"
#include "record/calibrate/sample_cost.h"
#include "record/calibrate/yield_timing.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace plumb::record {

namespace {

constexpr uint64_t kShareOfRun = 100;             // one part of so many
constexpr uint64_t kEnoughForSamples_ns = 12'000'000; // the pairs that follow, where a sample costs 20 us
constexpr unsigned kPairsToKeep = 4;

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

uint64_t Calibration::sample_cost_ns(const perf_event_attr& event, bool is_over) {
    const std::string name = name_of(event);
    if (const auto known = cache_.find(name))
        if (const uint64_t ns = platform::to_u64(*known))
            return ns;
    const uint64_t room_ns = left_ns() / 2; // there are samples of two kinds
    if (!is_over && room_ns < kEnoughForSamples_ns)
        return 0;
    const SampleCost cost = spend([&] { return measure_sample_cost(event, std::max(room_ns, kEnoughForSamples_ns)); });
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
