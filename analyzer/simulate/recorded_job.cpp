#include "simulate/recorded_job.h"

#include "noise/bursts.h"
#include "noise/find_classes.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace plumb::simulate {

namespace {

using model::NoiseClass;

std::string name_of(const model::NoiseTaker& taker) {
    if (taker.names.empty())
        return "another program";
    if (taker.names.size() == 1)
        return taker.names.front();
    return fmt::format("{} and {} more", taker.names.front(), taker.names.size() - 1);
}

// Of a distribution that is used for its longest and mean alone: each event has its own length.
model::NoiseDuration range_of(const model::NoiseLosses& losses) {
    const auto [least, most] = std::ranges::minmax_element(losses.losses, {}, &model::NoiseLoss::length_s);
    model::NoiseDuration duration{.shape = model::NoiseDuration::Shape::measured,
                                  .mean_s = 0,
                                  .spread_s = 0,
                                  .quantiles_s = {least->length_s, most->length_s}};
    for (const model::NoiseLoss& loss : losses.losses)
        duration.mean_s += loss.length_s / static_cast<double>(losses.losses.size());
    return duration;
}

uint32_t ranks_per_node(const model::MpiSteps& steps) {
    const uint32_t first = steps.ranks_on.front();
    for (size_t host = 0; host < steps.ranks_on.size(); host++)
        if (steps.ranks_on[host] > first || (steps.ranks_on[host] < first && host + 1 < steps.ranks_on.size()))
            throw UsageError(fmt::format("this job cannot be simulated: it has {} ranks on its first node and {} on another; each "
                                         "node but the last must have the same number of ranks",
                                         first, steps.ranks_on[host]));
    return first;
}

// One for each taker: its events as they were. What is removed of it is removed as a whole, since it is one program's.
void add_takers(const model::MpiSteps& steps, RecordedJob& result) {
    std::map<std::string, int> names;
    for (const model::NoiseTaker& taker : steps.takers) {
        NoiseClass one;
        one.name = name_of(taker);
        if (const int number = ++names[one.name]; number > 1)
            one.name += fmt::format(" ({})", number);
        one.group = one.name;
        one.regularity = NoiseClass::Regularity::recorded;
        one.scope = NoiseClass::Scope::cpu;
        one.recorded = std::make_shared<const model::NoiseLosses>(taker.losses);
        one.events = taker.losses.losses.size();
        one.frequency_hz = static_cast<double>(one.events) / taker.losses.measured_s /
                           (static_cast<double>(taker.losses.nodes) * taker.losses.cpus_per_node);
        one.cpus.resize(taker.losses.cpus_per_node);
        std::iota(one.cpus.begin(), one.cpus.end(), 0);
        one.duration = range_of(taker.losses);
        result.setting.machine.classes.push_back(std::move(one));

        RecordedTaker row{.name = result.setting.machine.classes.back().name, .taken_s = 0, .classes = {}};
        for (const model::NoiseLoss& loss : taker.losses.losses)
            row.taken_s += loss.length_s;
        row.classes = noise::find_classes(noise::join_bursts(taker.losses)).classes;
        result.facts.takers.push_back(std::move(row));
    }
}

} // namespace

RecordedJob recorded_job(const model::MpiSteps& steps) {
    RecordedJob result;
    Job& job = result.setting.job;
    job.ranks = steps.ranks;
    job.ranks_per_node = ranks_per_node(steps);
    job.cpus_per_node = std::max(job.ranks_per_node, steps.cpus_per_node);
    job.cycles = static_cast<uint32_t>(steps.steps);
    job.cycle_work_s = {1};
    job.follows_all = true;
    result.setting.machine.nodes = static_cast<uint32_t>(steps.ranks_on.size());
    result.setting.machine.cpus_per_node = job.cpus_per_node;

    // The collective is no part of the work, as far as it is no longer than the shortest step: no step gets longer by that.
    double operation_s = steps.operation_s;
    for (size_t step = 0; step < steps.steps; step++) {
        const auto begin = steps.work_s.begin() + static_cast<std::ptrdiff_t>(step * steps.ranks);
        operation_s = std::min(operation_s, static_cast<double>(*std::max_element(begin, begin + steps.ranks)));
    }
    std::vector<double> work_s;
    work_s.reserve(steps.work_s.size());
    for (const float each_s : steps.work_s)
        work_s.push_back(std::max(0.0, static_cast<double>(each_s) - operation_s));
    const auto pattern = std::make_shared<const WorkPattern>(steps.ranks, work_s);
    job.pattern = pattern;
    job.per_hop_s = 1;
    const double hops = collective_cost_s(job);
    job.per_hop_s = hops > 0 ? operation_s / hops : 0; // a larger job takes more of them

    Recorded& facts = result.facts;
    facts.work_s = pattern->mean_s();
    facts.steps = steps.steps;
    facts.all_steps = steps.all_steps;
    facts.step_s = steps.elapsed_s / static_cast<double>(steps.steps);
    facts.waited_s = steps.waited_s / static_cast<double>(steps.steps);
    facts.waited_before_share = steps.waited_s > 0 ? steps.waited_before_s / steps.waited_s : 0;
    facts.message_stride = steps.message_stride;
    facts.taken_s = steps.taken_s;
    facts.other_taken_s = steps.other_taken_s;
    facts.recorded_share = steps.recorded_share;
    add_takers(steps, result);
    return result;
}

} // namespace plumb::simulate
