#include "reports/json/noise.h"

#include "reports/words/noise_words.h"

#include <algorithm>

namespace plumb {

namespace {

const char* kind_of(const NoiseCulprit& culprit) {
    using Kind = NoiseCulprit::Kind;
    switch (culprit.kind) {
    case Kind::process:
        return "process";
    case Kind::unnamed_process:
        return "unnamed-process";
    case Kind::steal:
        return "steal";
    case Kind::slower:
        return "slower";
    case Kind::small:
        return "small";
    case Kind::unknown:
        break;
    }
    return "unknown";
}

Json culprit_object(const NoiseCulprit& culprit) {
    return {{"kind", kind_of(culprit)},
            {"name", culprit.name},
            {"lost_seconds", number(culprit.lost_s)},
            {"share", number(culprit.share)},
            {"fraction", number(culprit.fraction)},
            {"events", culprit.events},
            {"period_seconds", number(culprit.period_s)},
            {"regular", culprit.is_regular},
            {"length_seconds", number(culprit.length_s)},
            {"spread_seconds", number(culprit.spread_s)},
            {"longest_seconds", number(static_cast<double>(culprit.longest_ns) * 1e-9)},
            {"nodes", culprit.nodes},
            {"cpus", culprit.cpus},
            {"estimate", culprit.is_estimate}};
}

Json class_object(const model::NoiseClass& one) {
    using Class = model::NoiseClass;
    return {{"name", one.name},
            {"group", one.group},
            {"period_seconds", number(one.mean_period_s())},
            {"duration_seconds", number(one.duration.mean_s)},
            {"spread_seconds", number(one.duration.spread_s)},
            {"regularity", one.regularity == Class::Regularity::periodic ? "periodic" : "poisson"},
            {"jitter", number(one.jitter)},
            {"scope", one.scope == Class::Scope::node ? "node" : "cpu"},
            {"cpus", one.cpus},
            {"nodes_every", one.nodes.every},
            {"node_offsets", one.nodes.offsets},
            {"events", one.events},
            {"confidence", number(one.confidence)},
            {"loss_share", number(one.loss_share)}};
}

Json cpu_object(const Report& report, const NoiseCpuLoss& loss) {
    const model::MeasuredCpu& cpu = *loss.cpu;
    Json lost = Json::array();
    double interval_s = 0;
    for (const model::LossSeries& series : report.run->hosts[loss.node].noise.series)
        if (series.cpu == cpu.cpu) {
            interval_s = static_cast<double>(series.interval_ns) * 1e-9;
            for (const uint32_t lost_ppm : series.lost_ppm)
                lost.push_back(std::min(1.0, static_cast<double>(lost_ppm) * 1e-6));
            break;
        }
    const auto to_s = [](uint64_t ns) { return number(static_cast<double>(ns) * 1e-9); };
    return {{"node", loss.node},
            {"cpu", cpu.cpu},
            {"lost_fraction", number(loss.fraction)},
            {"lost_seconds", to_s(cpu.lost_ns)},
            {"seconds", to_s(cpu.measured_ns())},
            {"quanta", cpu.quanta},
            {"quantum_seconds", number(cpu.quantum_ns * 1e-9)},
            {"floor_seconds", to_s(cpu.floor_ns)},
            {"preempted_seconds", to_s(cpu.preempted_ns)},
            {"slower_seconds", to_s(cpu.slow_ns)},
            {"small_seconds", to_s(cpu.small_ns)},
            {"own_seconds", to_s(cpu.own_ns)},
            {"unseen_quanta", cpu.unseen},
            {"fixed_time", {{"interval_seconds", number(interval_s)}, {"lost_fractions", std::move(lost)}}}};
}

} // namespace

Json noise_object(const Report& report) {
    const NoiseSummary& noise = *report.noise;
    Json nodes = Json::array(), cpus = Json::array(), culprits = Json::array(), classes = Json::array(), histogram = Json::array(),
         interrupts = Json::array();
    for (const NoiseNodeLoss& node : noise.nodes)
        nodes.push_back({{"node", node.node},
                         {"host", node.host},
                         {"lost_fraction", number(node.fraction)},
                         {"lost_seconds", number(node.lost_s)},
                         {"measured_seconds", number(node.measured_s)}});
    for (const NoiseCpuLoss& cpu : noise.cpus)
        cpus.push_back(cpu_object(report, cpu));
    for (const NoiseCulprit& culprit : noise.culprits)
        culprits.push_back(culprit_object(culprit));
    for (const model::NoiseClass& one : noise.machine.classes)
        classes.push_back(class_object(one));
    for (size_t bin = 0; bin < noise.counts.size(); ++bin)
        if (noise.counts[bin] > 0)
            histogram.push_back({{"from_seconds", noise_bin_begin_s(bin)}, {"count", noise.counts[bin]}, {"lost_seconds", number(noise.times_s[bin])}});
    for (const NoiseInterrupts& source : noise.interrupts)
        interrupts.push_back({{"name", source.name}, {"rate_hz", number(source.rate_hz)}, {"cpus", source.cpus}});
    return {{"lost_fraction", number(noise.fraction())},
            {"lost_seconds", number(noise.lost_s)},
            {"measured_seconds", number(noise.measured_s)},
            {"seconds", number(noise.seconds)},
            {"quantum_seconds", number(noise.quantum_s)},
            {"floor_seconds", number(noise.floor_s)},
            {"floor_fraction", number(noise.floor_fraction)},
            {"unknown_share", number(noise.unknown_share)},
            {"own_seconds", number(noise.own_s)},
            {"nodes", std::move(nodes)},
            {"cpus", std::move(cpus)},
            {"culprits", std::move(culprits)},
            {"classes", std::move(classes)},
            {"histogram", std::move(histogram)},
            {"interrupts", std::move(interrupts)},
            {"caveats", noise_caveats(noise)}};
}

} // namespace plumb
