#include "reports/words/simulation_words.h"

#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numbers>
#include <utility>

namespace plumb {

namespace {

using simulate::AtGranularity;
using simulate::Estimate;
using simulate::Study;

constexpr size_t kMostNamed = 4; // granularities in one sentence

// "7.34 times at 1.00 ms, 4.01 times at 5.00 ms"; of many granularities the range.
template <class Figure, class Words> std::string at_each(const Study& study, Figure figure, Words words) {
    std::vector<std::pair<double, double>> values; // figure, work
    for (const AtGranularity& at : study.granularities)
        values.emplace_back(figure(at), at.work_s);
    if (values.size() > kMostNamed) {
        const auto [least, most] = std::ranges::minmax_element(values);
        return fmt::format("{} to {}, depending on the work in a cycle", words(least->first), words(most->first));
    }
    std::vector<std::string> parts;
    for (const auto& value : values)
        parts.push_back(fmt::format("{} {}", words(value.first),
                                    value.second == 0 ? "without work in a cycle" : "at " + format_seconds(value.second)));
    return fmt::to_string(fmt::join(parts, ", "));
}

void add_collective(std::vector<std::string>& lines, const Study& study) {
    const simulate::Job& job = study.plan.base.job;
    if (is_halo(job.collective))
        lines.push_back(
            fmt::format("At the end of a cycle each rank waits for its neighbours on a periodic grid; the exchange then "
                        "takes {}, which noise does not change.",
                        format_seconds(study.collective_s)));
    else
        lines.push_back(
            fmt::format("At the end of a cycle all ranks wait for the last one; {} then takes {}, which noise does not "
                        "change.",
                        collective_words(job.collective), format_seconds(study.collective_s)));
}

void add_recorded(std::vector<std::string>& lines, const simulate::StudyPlan& plan) {
    lines.emplace_back("In each step a rank has the work that was recorded of it, without its noise. Where it waited for messages it "
                       "now waits at the end of the step. In a larger job all ranks go through the same steps; what a rank did unlike "
                       "the others, its copies do in other steps.");
    if (plan.recorded->own_noise)
        lines.emplace_back("The recorded events of noise are played again, from a random moment on, those of a node together. In a larger "
                           "job each copy of a node plays them at a moment of its own. A CPU that is left without a rank takes all of "
                           "its node's.");
}

} // namespace

const char* collective_words(simulate::Collective collective) {
    switch (collective) {
    case simulate::Collective::barrier:
        return "a barrier";
    case simulate::Collective::allreduce:
        return "an allreduce";
    case simulate::Collective::halo1:
        return "a halo exchange in 1 dimension";
    case simulate::Collective::halo2:
        return "a halo exchange in 2 dimensions";
    case simulate::Collective::halo3:
        return "a halo exchange in 3 dimensions";
    }
    return "";
}

std::string percent_with_error(const Estimate& value, bool unicode) {
    double percent = value.mean * 100;
    const double error = value.half_width * 100;
    const int digits = error >= 0.95 || (error == 0 && std::fabs(percent) >= 9.95) ? 0 : error >= 0.095 || error == 0 ? 1 : 2;
    if (std::fabs(percent) * std::pow(10, digits) <= 0.5) // there is no -0
        percent = 0;
    if (error == 0)
        return fmt::format("{:.{}f} %", percent, digits);
    return fmt::format("{:.{}f} {} {:.{}f} %", percent, digits, unicode ? "±" : "+-", error, digits);
}

std::string time_with_error(const Estimate& value, bool unicode) {
    if (value.half_width == 0 || value.mean == 0)
        return format_seconds(value.mean);
    return fmt::format("{} {} {}", format_seconds(value.mean), unicode ? "±" : "+-",
                       format_fraction(value.half_width / value.mean));
}

std::string granularity_words(double work_s) {
    return work_s == 0 ? "no work" : format_seconds(work_s);
}

std::vector<std::string> rare_classes(const Study& study) {
    std::vector<std::string> names;
    for (size_t i = 0; i < study.granularities.front().classes.size(); i++)
        if (std::ranges::any_of(study.granularities, [&](const AtGranularity& at) {
                return at.classes[i].events > 0 && at.classes[i].events < kFewEvents;
            }))
            names.push_back(study.granularities.front().classes[i].name);
    return names;
}

std::string followed_words(const Study& study) {
    const simulate::Job& job = study.plan.base.job;
    if (is_halo(job.collective) || (job.follows_all && study.scales.empty()))
        return "Every rank was followed.";
    return fmt::format("{} times a rank was followed through a cycle{}", format_count(static_cast<double>(study.looked_at)),
                       job.follows_all ? "." : "; no other could be the last.");
}

std::string simulation_verdict(const Study& study) {
    if (study.plan.base.machine.classes.empty())
        return "There is no noise, so nothing is lost.";
    std::string verdict = "With the noise a cycle takes ";
    if (std::ranges::all_of(study.granularities, [](const AtGranularity& at) { return at.quiet_cycle_s > 0; }))
        verdict += at_each(
                       study, [](const AtGranularity& at) { return at.cycle_s.mean / at.quiet_cycle_s; },
                       [](double factor) { return three_digits(factor) + " times as long"; }) +
                   ".";
    else // a quiet cycle that takes no time has no factor
        verdict += at_each(
                       study, [](const AtGranularity& at) { return at.cycle_s.mean; }, format_seconds) +
                   ".";
    if (study.order.empty())
        return verdict;
    const size_t best = study.order.front();
    const auto gain = [best](const AtGranularity& at) { return at.changes[best].gain.mean; };
    const auto helps = [&](const AtGranularity& at) { return gain(at) > at.changes[best].gain.half_width; };
    if (std::ranges::none_of(study.granularities, helps))
        return verdict + (study.order.size() > 1 ? " No change gains anything." : " The change gains nothing.");
    const std::string& label = study.granularities.front().changes[best].label;
    const std::string source = study.order.size() == 1
                                   ? fmt::format("The change \"{}\" saves a part of the job's time", label)
                                   : fmt::format("The largest saving of the job's time{} comes from \"{}\"",
                                                 study.granularities.size() > 1 ? ", over all of these," : "", label);
    return fmt::format("{} {}: {}.", verdict, source, at_each(study, gain, format_fraction));
}

std::vector<std::string> simulation_assumptions(const Study& study) {
    const simulate::StudyPlan& plan = study.plan;
    std::vector<std::string> lines;
    lines.emplace_back("Each rank stays on one CPU of its node, and no two ranks share a CPU.");
    lines.emplace_back(
        "While an event of noise holds a CPU, the rank on it does not compute: an event in its work costs the event's "
        "whole length. An event in its wait costs only what is left of it when the wait ends.");
    add_collective(lines, study);
    lines.emplace_back(
        "An event that may use any CPU of a node takes one without a rank if there is one, and costs nothing there. "
        "Otherwise, each CPU is equally likely. Where each CPU has events of its own, they stay on it.");
    lines.emplace_back(
        "Noise does not depend on the job, nor classes on one another. It comes by the clock: a job that takes less "
        "time meets fewer events.");
    if (plan.recorded)
        add_recorded(lines, plan);
    else
        lines.push_back(
        plan.imbalance > 0
            ? fmt::format("Ranks differ in work: the slowest has {} more than the mean, the others lie evenly around the "
                          "mean, the same in all cycles of a run.",
                          format_fraction(plan.imbalance))
            : "All ranks have the same work in all cycles.");
    lines.emplace_back(
        "Nodes are counted from 0. What is known of each N nodes is repeated over all nodes of the job. A job that "
        "leaves out nodes runs on as many nodes, the next ones.");
    return lines;
}

std::string duration_shape_words(const model::NoiseDuration& duration) {
    using Shape = model::NoiseDuration::Shape;
    const double width_s = duration.spread_s * std::numbers::sqrt3;
    switch (duration.shape) {
    case Shape::constant:
        return "all of this length";
    case Shape::uniform:
        return fmt::format("{} to {}, all equally likely", format_seconds(std::max(0.0, duration.mean_s - width_s)),
                           format_seconds(duration.mean_s + width_s));
    case Shape::normal:
        return fmt::format("normal, standard deviation {}", format_seconds(duration.spread_s));
    case Shape::exponential:
        return "exponential";
    case Shape::measured:
        return duration.quantiles_s.empty() ? "all of this length"
                                            : fmt::format("as measured: {} to {}", format_seconds(duration.quantiles_s.front()),
                                                          format_seconds(duration.quantiles_s.back()));
    }
    return "";
}

std::string class_moments_words(const model::NoiseClass& one) {
    if (one.recorded)
        return one.phase == model::NoiseClass::Phase::together ? "those of one node, at the same moment everywhere" : "as recorded";
    const char* moments = one.phase == model::NoiseClass::Phase::together ? "at the same moment everywhere"
                          : one.scope == model::NoiseClass::Scope::cpu    ? "each CPU at its own moments"
                                                                          : "each node at its own moments";
    if (one.regularity == model::NoiseClass::Regularity::periodic && one.jitter > 0)
        return fmt::format("{}; intervals vary by {}", moments, format_fraction(one.jitter));
    return moments;
}

} // namespace plumb
