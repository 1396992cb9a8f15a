#include "synthetic_simulation.h"

#include "support/error.h"

namespace plumb::synthetic {

namespace {

using simulate::AtGranularity;
using simulate::LossByLength;
using simulate::Study;

const std::string kBreakOut = "</script><img src=x onerror=alert(1)>\x1b[31m\xff";

model::NoiseClass study_class(std::string name, std::string group, double period_s, double length_s) {
    model::NoiseClass one;
    one.name = std::move(name);
    one.group = std::move(group);
    one.frequency_hz = 1 / period_s;
    one.duration.mean_s = length_s;
    return one;
}

model::NoiseMachine machine_of(const std::string& kind) {
    model::NoiseMachine machine{"synthetic cluster", 64, 4, {}};
    if (kind == "simulation-quiet")
        return machine;
    auto tick = study_class("tick", "kernel", 0.004, 20e-6), timer = study_class("slow tick", "kernel", 0.6, 350e-6),
         daemon = study_class("collector", "monitor", 5, 0.015), quorum = study_class("quorum", "", 60, 0.335);
    tick.scope = model::NoiseClass::Scope::cpu;
    tick.jitter = 0.1;
    daemon.regularity = model::NoiseClass::Regularity::poisson;
    daemon.duration.shape = model::NoiseDuration::Shape::uniform;
    daemon.duration.spread_s = 0.002;
    quorum.nodes = {32, {1}};
    quorum.cpus = {0};
    quorum.phase = model::NoiseClass::Phase::together;
    quorum.fitted = {"phase", "cpus"};
    machine.classes = {tick, timer, daemon, quorum};
    if (kind == "simulation-hostile") {
        machine.name = kBreakOut;
        for (size_t i = 0; i < machine.classes.size(); i++) {
            machine.classes[i].name = kBreakOut + std::to_string(i);
            machine.classes[i].group = machine.classes[i].group + kBreakOut;
            machine.classes[i].fitted = {kBreakOut};
        }
    }
    return machine;
}

// Figures of no simulation; what the classes cost adds up, and more work makes noise cost less.
AtGranularity granularity_of(const Study& study, double work_s, double weight) {
    AtGranularity at;
    at.work_s = work_s;
    at.quiet_cycle_s = work_s + study.collective_s;
    const auto& classes = study.plan.base.machine.classes;
    const double lost_s = classes.empty() ? 0 : 0.0004 + 0.2 * work_s;
    at.cycle_s = {at.quiet_cycle_s + lost_s, lost_s * 0.04};
    const auto what_if = [&](const std::string& label, double part) {
        const double saved_s = lost_s * part;
        return simulate::WhatIf{
            label, {at.cycle_s.mean - saved_s, lost_s * 0.03}, {saved_s / at.cycle_s.mean, 0.004 + 0.02 * part}};
    };
    for (size_t i = 0; i < study.plan.changes.size(); i++)
        at.changes.push_back(what_if(study.plan.changes[i].label(), 0.1 * static_cast<double>(i) + weight));
    at.together = what_if("all of these", 1);
    if (is_halo(study.plan.base.job.collective))
        return at;
    const std::vector<double> shares{0.5 - weight, 0.05, 0.25 + weight / 2, 0.2 + weight / 2};
    const double events[] = {512'000, 34'000, 410, 11};
    for (size_t i = 0; i < classes.size(); i++) {
        at.classes.push_back({classes[i].name, classes[i].group, shares[i], events[i]});
        at.loss.delay_s[LossByLength::bin_of(classes[i].duration.mean_s)] += shares[i] * lost_s;
    }
    return at;
}

void add_sizes(Study& study) {
    for (const uint32_t factor : {1u, 4u, 16u}) {
        simulate::AtScale at{study.plan.base.job.ranks * factor, study.plan.base.job.nodes() * factor, {}, {}, {}};
        for (const AtGranularity& here : study.granularities) {
            const double lost_s = (here.cycle_s.mean - here.quiet_cycle_s) * (1 + 0.25 * factor);
            at.cycle_s.push_back({here.quiet_cycle_s + lost_s, lost_s * 0.05});
            at.changed_cycle_s.push_back({here.quiet_cycle_s + lost_s * 0.05, 0});
            at.quiet_cycle_s.push_back(here.quiet_cycle_s);
        }
        study.scales.push_back(std::move(at));
    }
}

// A job of 256 ranks beside a daemon, which waited a little longer than the simulation does.
void make_recorded(simulate::StudyPlan& plan) {
    plan.granularity_s = {0.001};
    plan.base.job.follows_all = true;
    plan.base.job.pattern = std::make_shared<const simulate::WorkPattern>(1, std::vector<double>{1});
    plan.base.machine = {"", 64, 4, {}};
    for (const char* name : {"collector", "mpirun"}) {
        auto one = study_class(name, name, 0.5, 0.02);
        one.regularity = model::NoiseClass::Regularity::recorded;
        one.scope = model::NoiseClass::Scope::cpu;
        one.events = 40;
        one.recorded = std::make_shared<const model::NoiseLosses>();
        plan.base.machine.classes.push_back(std::move(one));
    }
    simulate::RecordedTaker collector{"collector", 3.2, {study_class("20.0 ms every 500 ms", "", 0.5, 0.02)}};
    collector.classes[0].loss_share = 0.97;
    plan.changes = simulate::all_removals(plan.base.machine);
    plan.together = plan.changes;
    plan.scales.clear();
    plan.recorded = simulate::Recorded{.run = "plumb-run",
                                       .steps = 4096,
                                       .all_steps = 12'345,
                                       .work_s = 0.001,
                                       .step_s = 0.0014,
                                       .waited_s = 0.00036,
                                       .taken_s = 3.3,
                                       .takers = {collector, {"mpirun", 0.1, {}}},
                                       .other_taken_s = 0.7,
                                       .recorded_share = 0.8,
                                       .own_noise = true,
                                       .waited_before_share = 0.4,
                                       .message_stride = 4};
}

} // namespace

bool is_study(const std::string& kind) {
    return kind.starts_with("simulation");
}

Study make_study(const std::string& kind) {
    if (kind != "simulation" && kind != "simulation-quiet" && kind != "simulation-halo" && kind != "simulation-hostile" &&
        kind != "simulation-recorded")
        throw Error("no such simulation: " + kind);
    Study study;
    simulate::StudyPlan& plan = study.plan;
    plan.base.machine = machine_of(kind);
    plan.base.job.ranks = 256;
    plan.base.job.ranks_per_node = plan.base.job.cpus_per_node = 4;
    plan.base.job.cycles = 1000;
    plan.base.job.cycle_work_s = {1};
    plan.base.job.per_hop_s = 5e-6;
    plan.granularity_s = {0, 0.001, 0.005};
    study.collective_s = 40e-6;
    if (kind == "simulation-halo") {
        plan.base.job.collective = simulate::Collective::halo2;
        plan.imbalance = 0.05;
        plan.seeds = 1;
        study.collective_s = 5e-6;
    } else if (kind == "simulation-recorded") {
        make_recorded(plan);
        study.order = {0, 1};
    } else if (kind != "simulation-quiet") {
        using Kind = simulate::Change::Kind;
        plan.changes = {{Kind::without_class, plan.base.machine.classes[3].name, 0, 0},
                        {Kind::without_node, {}, 0, 17},
                        {Kind::without_nodes, {}, 32, 1},
                        {Kind::spare_cpu, {}, 0, 0},
                        {Kind::without_group, plan.base.machine.classes[0].group, 0, 0}};
        plan.together = plan.changes;
        plan.scales = {4, 16};
        study.order = {4, 3, 2, 1, 0};
    }
    const double weights[] = {0.01, 0.15, 0.3};
    for (size_t i = 0; i < plan.granularity_s.size(); i++)
        study.granularities.push_back(granularity_of(study, plan.granularity_s[i], weights[i]));
    if (!plan.scales.empty())
        add_sizes(study);
    if (kind == "simulation-recorded")
        study.granularities.front().waited_s = {0.00031, 0.00001};
    study.events = plan.base.machine.classes.empty() ? 0 : 1'234'567;
    study.looked_at = 89'012;
    return study;
}

} // namespace plumb::synthetic
