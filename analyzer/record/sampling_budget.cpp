#include "record/sampling_budget.h"

namespace plumb::record {

namespace {

constexpr uint64_t kLookEvery = 1'000'000'000;
constexpr uint64_t kCalibrationAge = 1'000'000'000; // before, it is not looked whether sampling costs too much

} // namespace

SamplingBudget::SamplingBudget(Collectors& collectors, Calibration& calibration, double share, uint64_t begin_ns)
    : collectors_(collectors), calibration_(calibration), governor_(share), rate_(begin_ns), begin_ns_(begin_ns) {}

uint64_t SamplingBudget::choose_slice() {
    return can_pause() && governor_.is_throttling() && collectors_.sampler->enable(governor_.wants_slice()) ? OverheadGovernor::kSlice_ns
                                                                                             : UINT64_MAX;
}

void SamplingBudget::look(uint64_t now_ns) {
    if (!collectors_.has_samples())
        return;
    collectors_.sampler->set_slow(rate_.look(now_ns, collectors_.begun()));
    if (now_ns - begin_ns_ < kCalibrationAge || now_ns - last_look_ns_ < kLookEvery)
        return;
    last_look_ns_ = now_ns;
    find_sample_cost(false);
    const bool was_throttling = governor_.is_throttling();
    const uint64_t in_program_ns = collectors_.samples() * sample_cost_ns_;
    const uint64_t switches_ns = collectors_.switches ? collectors_.switches->cost_in_program_ns() : 0;
    governor_.look(now_ns, own_cpu_ns() + in_program_ns + switches_ns, collectors_.drain_cpu_ns() + (can_pause() ? in_program_ns : 0),
                   collectors_.threads->total_run_ns());
    if (can_pause() && was_throttling && !governor_.is_throttling())
        collectors_.sampler->enable(true);
}

void SamplingBudget::find_sample_cost(bool is_over) {
    if (sample_cost_ns_ > 0 || !collectors_.has_samples() || collectors_.profile.samples() == 0)
        return;
    calibration_.run_took(collectors_.threads->total_run_ns());
    sample_cost_ns_ = calibration_.sample_cost_ns(collectors_.sampler->attributes(), is_over);
}

void SamplingBudget::write(trace::RecorderCost& record) const {
    const auto& sampler = collectors_.sampler;
    update(record.sample_cost_ns, sample_cost_ns_);
    update(record.throttled_ns, governor_.throttled_ns());
    update(record.cpu_ns, own_cpu_ns());
    update(record.samples, collectors_.samples());
    if (collectors_.switches)
        update(record.switches_cost_ns, collectors_.switches->cost_in_program_ns());
    update(record.lost_samples, collectors_.lost_samples());
    if (sampler)
        update(record.sample_period_ns, sampler->period_ns());
}

} // namespace plumb::record
