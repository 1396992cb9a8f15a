#include "simulate/study.h"

#include "simulate/simulate_job.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>

namespace plumb::simulate {

namespace {

// One setting at one granularity, with an outcome for each seed.
struct Case {
    const Setting* setting;
    double work_s;
    std::vector<Outcome> outcomes;
};

Outcome simulated(const Case& one, double imbalance, uint64_t seed) {
    Job job = one.setting->job;
    for (double& work_s : job.cycle_work_s) // of the base it is 1: what a change made of it is a factor
        work_s *= one.work_s;
    check_job(job);
    job.work_factor = spread_factors(job.ranks, imbalance, seed);
    return simulate_job(job, one.setting->machine, seed);
}

// The first error ends the study.
void simulate_all(std::vector<Case>& cases, const StudyPlan& plan) {
    const size_t count = cases.size() * plan.seeds;
    for (Case& one : cases)
        one.outcomes.resize(plan.seeds);
    std::atomic<size_t> next{0};
    std::exception_ptr error;
    std::mutex error_lock;
    const auto work = [&] {
        try {
            for (size_t i = next++; i < count; i = next++) {
                Case& one = cases[i / plan.seeds];
                one.outcomes[i % plan.seeds] = simulated(one, plan.imbalance, i % plan.seeds);
            }
        } catch (...) {
            const std::scoped_lock lock(error_lock);
            if (!error)
                error = std::current_exception();
            next = count;
        }
    };
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min<size_t>(plan.threads, count); i++)
        threads.emplace_back(work);
    work();
    threads.clear();
    if (error)
        std::rethrow_exception(error);
}

std::vector<double> cycles_of(const Case& one) {
    std::vector<double> values;
    for (const Outcome& outcome : one.outcomes)
        values.push_back(outcome.cycle_s());
    return values;
}

std::optional<Estimate> waited_of(const Case& one) {
    std::vector<double> values;
    for (const Outcome& outcome : one.outcomes)
        if (outcome.waited_s >= 0)
            values.push_back(outcome.waited_in_cycle_s());
    return values.empty() ? std::nullopt : std::optional(estimate_of(values));
}

Estimate cycle_of(const Case& one) {
    return estimate_of(cycles_of(one));
}

WhatIf compared(std::string label, const Case& base, const Case& one) {
    const Estimate ratio = ratio_of(cycles_of(one), cycles_of(base));
    return {std::move(label), cycle_of(one), {1 - ratio.mean, ratio.half_width}};
}

void add_losses(AtGranularity& result, const Case& base) {
    const auto& classes = base.setting->machine.classes;
    double all_s = 0;
    std::vector<double> sums_s(classes.size()), events(classes.size());
    for (const Outcome& outcome : base.outcomes) {
        if (outcome.delay_of_class_s.empty())
            return;
        for (size_t i = 0; i < classes.size(); i++) {
            sums_s[i] += outcome.delay_of_class_s[i];
            all_s += outcome.delay_of_class_s[i];
            events[i] += outcome.events_of_class[i];
        }
        for (size_t bin = 0; bin < LossByLength::kBins; bin++)
            result.loss.delay_s[bin] += outcome.loss.delay_s[bin];
    }
    for (size_t i = 0; i < classes.size(); i++)
        result.classes.push_back({classes[i].name, classes[i].group, all_s > 0 ? sums_s[i] / all_s : 0, events[i]});
}

std::vector<size_t> order_by_gain(const Study& study) {
    std::vector<double> gains(study.plan.changes.size());
    for (const AtGranularity& at : study.granularities)
        for (size_t i = 0; i < gains.size(); i++)
            gains[i] += at.changes[i].gain.mean;
    std::vector<size_t> order(gains.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return gains[i]; });
    return order;
}

} // namespace

Study run_study(StudyPlan plan) {
    Study study;
    plan.base.job.cycle_work_s = {1};
    // Settings: the base, each change, the changes together; then, of each scale, the base and the changes together.
    std::vector<Setting> settings{plan.base};
    for (const Change& change : plan.changes)
        settings.push_back(changed(plan.base, change));
    settings.push_back(changed(plan.base, plan.together));
    std::vector<uint32_t> scales;
    if (!plan.scales.empty()) {
        scales = plan.scales;
        scales.push_back(1);
        std::ranges::sort(scales);
        scales.erase(std::unique(scales.begin(), scales.end()), scales.end());
    }
    const size_t of_size = settings.size();
    for (const uint32_t factor : scales) {
        Setting base = plan.base;
        base.job = scaled(std::move(base.job), factor);
        settings.push_back(base);
        settings.push_back(changed(std::move(base), plan.together));
    }
    for (const Setting& setting : settings)
        check_job(setting.job);
    std::vector<Case> cases;
    for (const double work_s : plan.granularity_s)
        for (const Setting& setting : settings)
            cases.push_back({&setting, work_s, {}});
    simulate_all(cases, plan);

    for (size_t g = 0; g < plan.granularity_s.size(); g++) {
        const Case* first = &cases[g * settings.size()];
        AtGranularity at{.work_s = plan.granularity_s[g],
                         .quiet_cycle_s = first->outcomes.front().quiet_cycle_s(),
                         .cycle_s = cycle_of(*first),
                         .waited_s = waited_of(*first),
                         .changes = {},
                         .together = {},
                         .classes = {},
                         .loss = {}};
        for (size_t i = 0; i < plan.changes.size(); i++)
            at.changes.push_back(compared(plan.changes[i].label(), *first, first[1 + i]));
        at.together = compared("all of these", *first, first[of_size - 1]);
        add_losses(at, *first);
        study.granularities.push_back(std::move(at));
    }
    for (size_t s = 0; s < scales.size(); s++) {
        const Setting& setting = settings[of_size + 2 * s];
        AtScale at{.ranks = setting.job.ranks,
                   .nodes = setting.job.nodes(),
                   .cycle_s = {},
                   .changed_cycle_s = {},
                   .quiet_cycle_s = {}};
        for (size_t g = 0; g < plan.granularity_s.size(); g++) {
            const Case* base = &cases[g * settings.size() + of_size + 2 * s];
            at.cycle_s.push_back(cycle_of(base[0]));
            at.changed_cycle_s.push_back(cycle_of(base[1]));
            at.quiet_cycle_s.push_back(base->outcomes.front().quiet_cycle_s());
        }
        study.scales.push_back(std::move(at));
    }
    for (const Case& one : cases)
        for (const Outcome& outcome : one.outcomes) {
            study.events += outcome.events();
            study.looked_at += outcome.looked_at;
        }
    study.collective_s = collective_cost_s(plan.base.job);
    study.plan = std::move(plan);
    study.order = order_by_gain(study);
    return study;
}

} // namespace plumb::simulate
