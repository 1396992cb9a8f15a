#include "trace/builders/noise_builder.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace plumb::trace {

namespace {

model::MeasuredLoss::Cause cause_of(NoiseCause cause) {
    using Cause = model::MeasuredLoss::Cause;
    switch (cause) {
    case NoiseCause::process:
        return Cause::process;
    case NoiseCause::process_sometime:
        return Cause::process_sometime;
    case NoiseCause::unnamed:
        return Cause::unnamed_process;
    case NoiseCause::unknown:
        break;
    }
    return Cause::unknown;
}

} // namespace

void NoiseBuilder::take(const NoiseCpu& record, FileContext& context) {
    // Two measurements of one CPU disturb each other: only a damaged or forged run has them.
    const auto same = [&](const model::MeasuredCpu& cpu) { return cpu.cpu == record.cpu; };
    if (record.cpu < 0 || std::ranges::any_of(noise_.cpus, same))
        return;
    model::MeasuredCpu cpu{.cpu = record.cpu,
                           .asked_ns = record.asked_ns,
                           .quantum_ns = static_cast<double>(record.quantum_ps) * 1e-3,
                           .begin_ns = context.time(record.begin_ns),
                           .end_ns = context.time(record.end_ns),
                           .quanta = record.quanta,
                           .lost_ns = record.lost_ns,
                           .own_ns = record.own_ns,
                           .slow_ns = record.slow_ns,
                           .small_ns = record.small_ns,
                           .floor_ns = record.floor_ns,
                           .least_ns = record.least_ns,
                           .preempted_ns = record.preempted_ns,
                           .preempted_count = record.preempted_count,
                           .left_out_ns = record.left_out_ns,
                           .left_out_count = record.left_out_count,
                           .unseen = record.unseen,
                           .switches_seen = (record.flags & kNoiseSwitchesSeen) != 0,
                           .names_seen = (record.flags & kNoiseNamesSeen) != 0,
                           .counts = {},
                           .times_ns = {}};
    static_assert(model::MeasuredCpu::kBins == kNoiseBins);
    std::ranges::copy(record.counts, cpu.counts.begin());
    std::ranges::copy(record.times_ns, cpu.times_ns.begin());
    noise_.cpus.push_back(cpu);
}

void NoiseBuilder::take(const NoiseLoss& record, FileContext& context) {
    noise_.losses.push_back({.cpu = record.cpu,
                             .cause = cause_of(static_cast<NoiseCause>(record.cause)),
                             .begin_ns = context.time(record.begin_ns),
                             .length_ns = record.length_ns,
                             .pid = record.pid,
                             .tid = record.header.tid,
                             .name = context.text(record.name)});
}

void NoiseBuilder::take(const NoiseSeries& record, FileContext& context) {
    if (record.interval_ns == 0)
        return;
    const uint64_t begin_ns = context.time(record.begin_ns);
    const size_t count = std::min<size_t>(record.intervals, std::size(record.lost_ppm));
    if (noise_.series.empty() || noise_.series.back().cpu != record.cpu || noise_.series.back().interval_ns != record.interval_ns)
        noise_.series.push_back({.cpu = record.cpu, .begin_ns = begin_ns, .interval_ns = record.interval_ns, .lost_ppm = {}});
    auto& lost_ppm = noise_.series.back().lost_ppm;
    lost_ppm.insert(lost_ppm.end(), record.lost_ppm, record.lost_ppm + count);
}

void NoiseBuilder::finish() {
    std::ranges::sort(noise_.cpus, {}, &model::MeasuredCpu::cpu);
    std::ranges::stable_sort(noise_.losses, [](const model::MeasuredLoss& left, const model::MeasuredLoss& right) {
        return std::tie(left.cpu, left.begin_ns) < std::tie(right.cpu, right.begin_ns);
    });
    std::ranges::stable_sort(noise_.series, {}, &model::LossSeries::cpu);
}

} // namespace plumb::trace
