// What the simulation rests on: the job, the classes of noise, and what is assumed.
#include "reports/html/simulation_sections.h"
#include "reports/words/noise_words.h"
#include "reports/words/simulation_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using simulate::Study;

constexpr size_t kMostClassesInput = 200;

template <class Range, class Words> std::string listed(const Range& values, Words words) {
    std::vector<std::string> parts;
    for (const auto& value : values)
        parts.push_back(words(value));
    return fmt::to_string(fmt::join(parts, ", "));
}

std::string collective_source(const Study& study) {
    const simulate::Job& job = study.plan.base.job;
    return job.collective_s >= 0 ? "time of the whole collective as given"
                                 : fmt::format("computed from {} for one message step", format_seconds(job.per_hop_s));
}

} // namespace

void put_html_simulated_job(HtmlWriter& html, const Study& study) {
    const simulate::StudyPlan& plan = study.plan;
    const simulate::Job& job = plan.base.job;
    html.open("section", {{"id", "job"}}).element("h2", "The job");
    begin_html_table(html, "parameter", {"value", "meaning"}, false);
    const auto row = [&](const char* name, const std::string& value, const std::string& meaning) {
        put_html_row(html, name, {value, meaning}, false);
    };
    row("ranks", format_count(job.ranks), "processes of the job, each on a CPU of its own");
    row("ranks on a node", format_count(job.ranks_per_node),
        job.ranks_per_node < job.cpus_per_node ? "the other CPUs of the node have no rank and take what noise they can"
                                               : "each CPU of a node has a rank");
    row("CPUs of a node", format_count(job.cpus_per_node), "");
    row("nodes", format_count(job.nodes()), "");
    row("work in a cycle", listed(plan.granularity_s, granularity_words),
        "what each rank computes in a cycle without noise; each is simulated");
    row("end of a cycle", fmt::format("{} of {}", collective_words(job.collective), format_seconds(study.collective_s)),
        collective_source(study));
    if (plan.recorded)
        row("imbalance", "as recorded", "each rank has in each step the work that it had");
    else
        row("imbalance", plan.imbalance > 0 ? format_fraction(plan.imbalance) : "none",
            "how much more work the slowest rank has than the mean");
    row("cycles", format_count(job.cycles), "in each run");
    row("runs", format_count(plan.seeds), "of each case, with other random numbers");
    if (!study.scales.empty())
        row("sizes", listed(study.scales, [](const simulate::AtScale& at) { return format_count(at.ranks); }),
            "ranks of the jobs that were simulated for the section on larger jobs");
    row("changes", plan.changes.empty() ? "none" : format_count(static_cast<double>(plan.changes.size())),
        "each is simulated alone, then all together");
    html.close().close().close();
}

void put_html_simulated_noise(HtmlWriter& html, const Study& study) {
    const model::NoiseMachine& machine = study.plan.base.machine;
    html.open("section", {{"id", "noise-classes"}}).element("h2", "The noise");
    if (machine.classes.empty()) {
        html.element("p", "None: there are no classes of noise.").close();
        return;
    }
    const bool is_fitted =
        std::ranges::any_of(machine.classes, [](const model::NoiseClass& one) { return !one.fitted.empty(); });
    html.element("p",
                 study.plan.recorded && study.plan.recorded->own_noise
                     ? "Who took CPUs away from the ranks, as recorded; each event is played again with its length."
                 : is_fitted
                     ? "The classes of events that take CPUs away, from the file of classes. The last column lists the values "
                       "of the file that nobody measured: they were fitted or assumed, and results depend on them."
                     : "The classes of events that take CPUs away, from the file of classes, which marks no value as fitted.");
    std::vector<std::string> titles{"made by", "length and rhythm", "lengths", "moments", "where"};
    if (is_fitted)
        titles.emplace_back("not measured");
    begin_html_table(html, "class", titles, false);
    for (size_t i = 0; i < std::min(machine.classes.size(), kMostClassesInput); i++) {
        const model::NoiseClass& one = machine.classes[i];
        const NoiseClassWords words = class_words(one, study.plan.base.job.nodes());
        std::vector<std::string> cells{words.name,
                                       one.recorded ? fmt::format("{}, {} on average", counted(one.events, "event", "events"),
                                                                  format_seconds(one.duration.mean_s))
                                                    : words.rhythm, duration_shape_words(one.duration), class_moments_words(one),
                                       words.place};
        if (is_fitted)
            cells.push_back(fmt::to_string(fmt::join(one.fitted, ", ")));
        put_html_row(html, one.name, cells, false);
    }
    html.close().close();
    if (machine.classes.size() > kMostClassesInput)
        html.element("p",
                     fmt::format("{} are not listed; the file has them.",
                                 counted(machine.classes.size() - kMostClassesInput, "class", "classes")),
                     {{"class", "muted"}});
    html.close();
}

void put_html_assumptions(HtmlWriter& html, const Study& study) {
    html.open("section", {{"id", "assumptions"}}).element("h2", "What is assumed").open("ul");
    for (const std::string& line : simulation_assumptions(study))
        html.element("li", line);
    html.close().close();
}

} // namespace plumb
