#include "record/sampling_budget.h"

namespace plumb::record {

namespace {

constexpr uint64_t kLookEvery = 1'000'000'000;
constexpr uint64_t kCalibrationAge = 1'000'000'000; // before, it is not looked whether sampling costs too much

} // namespace

SamplingBudget::SamplingBudget(Collectors& collectors, Calibration& calibration, double share, uint64_t begin_ns)
    : collectors_(collectors), calibration_(calibration), governor_(share), begin_ns_(begin_ns) {}

uint64_t SamplingBudget::choose_slice() {
    return governor_.is_throttling() && collectors_.sampler->enable(governor_.wants_slice()) ? OverheadGovernor::kSlice_ns
                                                                                             : UINT64_MAX;
}

void SamplingBudget::look(uint64_t now_ns) {
    const bool can_pause = collectors_.sampler && collectors_.sampler->can_pause();
    if (!can_pause || now_ns - begin_ns_ < kCalibrationAge || now_ns - last_look_ns_ < kLookEvery)
        return;
    last_look_ns_ = now_ns;
    find_sample_cost();
    const bool was_throttling = governor_.is_throttling();
    governor_.look(now_ns, own_cpu_ns() + collectors_.samples() * sample_cost_ns_, collectors_.threads->total_run_ns());
    if (was_throttling && !governor_.is_throttling())
        collectors_.sampler->enable(true);
}

void SamplingBudget::find_sample_cost() {
    if (sample_cost_ns_ > 0 || !collectors_.has_samples() || collectors_.profile.samples() == 0)
        return;
    calibration_.run_took(collectors_.threads->total_run_ns());
    sample_cost_ns_ = calibration_.sample_cost_ns(collectors_.sampler->attributes());
}

void SamplingBudget::write(trace::RecorderCost& record) const {
    const auto& sampler = collectors_.sampler;
    update(record.sample_cost_ns, sample_cost_ns_);
    update(record.throttled_ns, sampler && sampler->can_pause() ? governor_.throttled_ns() : 0);
    update(record.cpu_ns, own_cpu_ns());
    update(record.samples, collectors_.samples());
    update(record.lost_samples, collectors_.lost_samples());
    if (sampler)
        update(record.sample_period_ns, sampler->period_ns());
}

} // namespace plumb::record
