#include "analyses/noise/foreign_losses.h"

#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kSecond_ns = 1e9;

uint64_t to_ns(double seconds) { return static_cast<uint64_t>(std::llround(std::max(0.0, seconds) * kSecond_ns)); }

// As records of plumb count them: half octaves from 128 ns.
size_t bin_of(double length_s) {
    const double bin = length_s > 0 ? std::floor(2 * std::log2(length_s / 128e-9)) + 1 : 0;
    return static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(model::MeasuredCpu::kBins - 1)));
}

// What the file leaves open, and what was assumed.
void add_notes(model::Run& run, const noise::LossesTable& table) {
    if (table.measured_is_derived)
        run.notes.push_back(fmt::format("the table does not say how long was measured: {:.3g} s, the end of the last loss, is taken",
                                        table.losses.measured_s));
    if (table.nodes_are_derived || table.cpus_are_derived)
        run.notes.push_back(fmt::format("the table does not say how many {} were measured: {} with {} on each are taken, by its rows",
                                        table.nodes_are_derived ? "nodes" : "CPUs", table.losses.nodes,
                                        counted(table.losses.cpus_per_node, "CPU", "CPUs")));
    if (table.silent_nodes > 0)
        run.notes.push_back(fmt::format("of {} nodes the table has no loss: they were quiet, or not measured", table.silent_nodes));
    if (table.silent_cpus > 0)
        run.notes.push_back(fmt::format("of {} CPUs of the other nodes the table has no loss", table.silent_cpus));
}

} // namespace

model::Run run_of_losses(const noise::LossesTable& table, const std::string& name) {
    const model::NoiseLosses& losses = table.losses;
    model::Run run;
    run.command = {"plumb", "noise", "--losses", name};
    run.end_ns = to_ns(losses.measured_s);
    run.hosts.resize(losses.nodes);
    std::vector<std::map<int, model::MeasuredCpu>> cpus(losses.nodes);
    for (const model::NoiseLoss& loss : losses.losses) {
        if (loss.node >= losses.nodes)
            continue;
        model::MeasuredCpu& cpu = cpus[loss.node][loss.cpu];
        const uint64_t length_ns = to_ns(loss.length_s);
        cpu.lost_ns += length_ns;
        ++cpu.counts[bin_of(loss.length_s)];
        cpu.times_ns[bin_of(loss.length_s)] += length_ns;
        run.hosts[loss.node].noise.losses.push_back({.cpu = loss.cpu,
                                                     .cause = model::MeasuredLoss::Cause::unknown,
                                                     .begin_ns = to_ns(loss.begin_s),
                                                     .length_ns = length_ns,
                                                     .pid = 0,
                                                     .tid = 0,
                                                     .name = ""});
    }
    for (uint32_t node = 0; node < losses.nodes; ++node) {
        model::Host& host = run.hosts[node];
        host.name = fmt::format("node {}", node);
        for (int spare = 0; cpus[node].size() < losses.cpus_per_node; ++spare) // CPUs without a loss
            cpus[node].try_emplace(spare);
        host.cpu_count = static_cast<int>(cpus[node].size());
        for (auto& [number, cpu] : cpus[node]) {
            cpu.cpu = number;
            cpu.end_ns = to_ns(losses.measured_s);
            cpu.floor_ns = cpu.least_ns = to_ns(losses.least_s);
            host.noise.cpus.push_back(cpu);
        }
    }
    add_notes(run, table);
    return run;
}

} // namespace plumb
