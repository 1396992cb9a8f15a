#include "reports/json/simulation.h"

#include "reports/words/recorded_words.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;

ordered_json estimate_json(const simulate::Estimate& value) {
    return {{"mean", value.mean}, {"half_width_95", value.half_width}};
}

ordered_json what_if_json(const simulate::WhatIf& one) {
    return {{"change", one.label}, {"cycle_seconds", estimate_json(one.cycle_s)}, {"gain_fraction", estimate_json(one.gain)}};
}

const char* name_of(simulate::Collective collective) {
    switch (collective) {
    case simulate::Collective::barrier:
        return "barrier";
    case simulate::Collective::allreduce:
        return "allreduce";
    case simulate::Collective::halo1:
        return "halo1";
    case simulate::Collective::halo2:
        return "halo2";
    case simulate::Collective::halo3:
        return "halo3";
    }
    return "";
}

ordered_json job_json(const simulate::Study& study) {
    const simulate::Job& job = study.plan.base.job;
    return {{"ranks", job.ranks},
            {"ranks_per_node", job.ranks_per_node},
            {"cpus_per_node", job.cpus_per_node},
            {"nodes", job.nodes()},
            {"cycles", job.cycles},
            {"collective", name_of(job.collective)},
            {"collective_seconds", study.collective_s},
            {"imbalance_fraction", study.plan.imbalance}};
}

ordered_json recorded_json(const simulate::Study& study) {
    const simulate::Recorded& recorded = *study.plan.recorded;
    ordered_json entry{{"run", recorded.run},
                       {"steps", recorded.steps},
                       {"all_steps", recorded.all_steps},
                       {"work_seconds", recorded.work_s},
                       {"step_seconds", recorded.step_s},
                       {"waited_seconds", recorded.waited_s},
                       {"taken_by_noise_seconds", recorded.taken_s},
                       {"taken_by_others_seconds", recorded.other_taken_s},
                       {"takers", ordered_json::array()},
                       {"missing", missing_in_simulation(study)}};
    for (const simulate::RecordedTaker& taker : recorded.takers) {
        entry["takers"].push_back({{"name", taker.name}, {"taken_seconds", taker.taken_s}});
        if (!taker.classes.empty()) {
            entry["takers"].back()["period_seconds"] = taker.classes.front().mean_period_s();
            entry["takers"].back()["duration_seconds"] = taker.classes.front().duration.mean_s;
        }
    }
    if (const auto beside = beside_recording(study)) {
        entry["simulated_step_seconds"] = beside->simulated_step_s;
        entry["simulated_waited_seconds"] = beside->simulated_waited_s;
        entry["agrees"] = beside->agrees();
    }
    return entry;
}

ordered_json noise_json(const model::NoiseMachine& machine) {
    ordered_json classes = ordered_json::array();
    for (const model::NoiseClass& one : machine.classes)
        classes.push_back({{"name", one.name}, {"group", one.group}, {"fitted", one.fitted}});
    return {{"name", machine.name}, {"classes", std::move(classes)}};
}

// The cumulative distribution: only where it rises.
ordered_json lengths_json(const simulate::LossByLength& loss) {
    double all_s = 0, below_s = 0;
    for (const double delay_s : loss.delay_s)
        all_s += delay_s;
    ordered_json steps = ordered_json::array();
    for (size_t bin = 0; bin < simulate::LossByLength::kBins; bin++) {
        below_s += loss.delay_s[bin];
        if (loss.delay_s[bin] > 0)
            steps.push_back({{"length_seconds", simulate::LossByLength::upper_s(bin)}, {"fraction", below_s / all_s}});
    }
    return steps;
}

ordered_json granularity_json(const simulate::Study& study, const simulate::AtGranularity& at) {
    ordered_json entry{
        {"work_seconds", at.work_s}, {"quiet_cycle_seconds", at.quiet_cycle_s}, {"cycle_seconds", estimate_json(at.cycle_s)}};
    if (at.waited_s)
        entry["waited_seconds"] = estimate_json(*at.waited_s);
    entry["changes"] = ordered_json::array();
    for (const size_t i : study.order)
        entry["changes"].push_back(what_if_json(at.changes[i]));
    entry["together"] = what_if_json(at.together);
    entry["lost_to_classes"] = ordered_json::array();
    for (const simulate::ClassLoss& one : at.classes)
        entry["lost_to_classes"].push_back(
            {{"name", one.name}, {"group", one.group}, {"fraction", one.share}, {"events", one.events}});
    entry["lost_to_lengths_up_to"] = lengths_json(at.loss);
    return entry;
}

ordered_json scale_json(const simulate::AtScale& at) {
    ordered_json entry{{"ranks", at.ranks}, {"nodes", at.nodes}, {"at_granularity", ordered_json::array()}};
    for (size_t i = 0; i < at.cycle_s.size(); i++)
        entry["at_granularity"].push_back({{"quiet_cycle_seconds", at.quiet_cycle_s[i]},
                                           {"cycle_seconds", estimate_json(at.cycle_s[i])},
                                           {"together_cycle_seconds", estimate_json(at.changed_cycle_s[i])}});
    return entry;
}

} // namespace

std::string simulation_json(const simulate::Study& study) {
    ordered_json document{{"schema", "plumb-simulation/1"},
                          {"job", job_json(study)},
                          {"noise", noise_json(study.plan.base.machine)},
                          {"seeds", study.plan.seeds},
                          {"granularities", ordered_json::array()},
                          {"scales", ordered_json::array()}};
    if (study.plan.recorded)
        document["recorded"] = recorded_json(study);
    for (const simulate::AtGranularity& at : study.granularities)
        document["granularities"].push_back(granularity_json(study, at));
    for (const simulate::AtScale& at : study.scales)
        document["scales"].push_back(scale_json(at));
    document["noise_events"] = std::round(study.events);
    document["ranks_followed"] = study.looked_at;
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
