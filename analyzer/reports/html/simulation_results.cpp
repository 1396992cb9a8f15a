// What the simulation found: the time of a cycle, what changes gain, larger jobs, and which noise costs it.
#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/html/page_simulation.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/simulation_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using simulate::AtGranularity;
using simulate::LossByLength;
using simulate::Study;
using simulate::WhatIf;

constexpr size_t kMostChangesListed = 60, kMostClassesListed = 60;
constexpr const char* kWorkTitle = "work of a rank in a cycle";

std::string interval_sentence(const Study& study) {
    return study.plan.seeds > 1
               ? fmt::format("± is the 95 % confidence interval over {} runs with other random numbers.", study.plan.seeds)
               : std::string("Of a single run no confidence interval is known; --seeds gives more.");
}

bool has_losers(const Study& study) {
    return !study.granularities.front().classes.empty();
}

} // namespace

void put_html_simulated_cycles(HtmlWriter& html, const Study& study) {
    html.open("section", {{"id", "cycles"}}).element("h2", "Time of a cycle");
    begin_granularity_table(html, kWorkTitle, study);
    put_granularity_row(html, "with the noise", study,
                        [](const AtGranularity& at) { return time_with_error(at.cycle_s, true); });
    put_granularity_row(html, "without noise", study, [](const AtGranularity& at) { return format_seconds(at.quiet_cycle_s); });
    put_granularity_row(html, "slower by a factor of", study, [](const AtGranularity& at) {
        return at.quiet_cycle_s > 0 ? three_digits(at.cycle_s.mean / at.quiet_cycle_s) : "-";
    });
    html.close().close();
    html.element("p", interval_sentence(study), {{"class", "muted"}});
    if (const auto rare = rare_classes(study); !rare.empty())
        html.element("p",
                     fmt::format("The runs hold fewer than {} events of {}: more cycles are needed to judge (--cycles).",
                                 kFewEvents, fmt::join(rare, ", ")),
                     {{"class", "warning"}});
    html.close();
}

void put_html_what_ifs(HtmlWriter& html, const Study& study) {
    if (study.order.empty())
        return;
    html.open("section", {{"id", "changes"}}).element("h2", "What a change gains");
    html.element(
        "p",
        fmt::format("The part of the job's time that each change saves, the largest saving first. Each is simulated on its "
                    "own with the same events of noise as the unchanged job, so the gain is known better than the times. {} "
                    "Gains do not add up: the last row is simulated with all changes at once. A gain below 0 is a loss.",
                    interval_sentence(study)));
    begin_granularity_table(html, kWorkTitle, study);
    const auto add = [&](const std::string& label, const std::function<const WhatIf&(const AtGranularity&)>& what_if) {
        put_granularity_row(html, label, study,
                            [&](const AtGranularity& at) { return percent_with_error(what_if(at).gain, true); });
    };
    for (size_t i = 0; i < std::min(study.order.size(), kMostChangesListed); i++) {
        const size_t change = study.order[i];
        add(study.granularities.front().changes[change].label,
            [change](const AtGranularity& at) -> const WhatIf& { return at.changes[change]; });
    }
    if (study.order.size() > 1)
        add("all together", [](const AtGranularity& at) -> const WhatIf& { return at.together; });
    html.close().close();
    if (study.order.size() > kMostChangesListed)
        html.element("p",
                     fmt::format("{} gain less and are not listed; --format json has them.",
                                 counted(study.order.size() - kMostChangesListed, "change", "changes")),
                     {{"class", "muted"}});
    if (!kPageScript.empty())
        put_html_chart(html, "chart-simulation-gains",
                       "The same gains, with their confidence intervals as lines, in a panel for each granularity.");
    html.close();
}

void put_html_sizes(HtmlWriter& html, const Study& study) {
    if (study.scales.empty())
        return;
    html.open("section", {{"id", "sizes"}}).element("h2", "Larger jobs");
    html.element("p",
                 "Time of a cycle of jobs with more ranks on more nodes; the nodes' noise is repeated. Behind the arrow: with "
                 "all changes above together.");
    if (!kPageScript.empty())
        put_html_chart(html, "chart-simulation-sizes",
                       "Time of a cycle by the size of the job; both axes are logarithmic. Solid: with the noise, its 95 % "
                       "confidence interval pale. Dashed: with all changes together. Dotted: without noise.");
    std::vector<std::string> titles{"nodes"};
    for (const AtGranularity& at : study.granularities)
        titles.push_back(granularity_words(at.work_s));
    begin_html_table(html, "ranks", titles);
    for (const simulate::AtScale& at : study.scales) {
        std::vector<std::string> cells{format_count(at.nodes)};
        for (size_t i = 0; i < at.cycle_s.size(); i++)
            cells.push_back(
                fmt::format("{} → {}", time_with_error(at.cycle_s[i], true), time_with_error(at.changed_cycle_s[i], true)));
        put_html_row(html, format_count(at.ranks), cells);
    }
    html.close().close().close();
}

void put_html_losers(HtmlWriter& html, const Study& study) {
    html.open("section", {{"id", "classes"}}).element("h2", "What makes the last rank late");
    if (!has_losers(study)) {
        html.element(
            "p", study.plan.base.machine.classes.empty()
                     ? "Nothing: there is no noise."
                     : "Not known of a halo exchange: a delay spreads from neighbour to neighbour, and no cycle has one last "
                       "rank whose delay it is.");
        html.close();
        return;
    }
    html.element(
        "p", "Every rank waits for the last one. The time that its delay adds to a cycle is divided over the events that held "
             "its CPU. Shares of that lost time, by class. A share is not a gain: without a class, another rank may be the "
             "last one.");
    if (!kPageScript.empty())
        put_html_chart(
            html, "chart-simulation-classes",
            "Share of each class in the lost time, in a panel for each granularity; classes of one colour form a group.");
    const std::vector<size_t> order = classes_by_share(study);
    begin_granularity_table(html, "class", study);
    for (size_t at_most = 0; const size_t i : order)
        if (at_most++ < kMostClassesListed) {
            const model::NoiseClass& one = study.plan.base.machine.classes[i];
            put_granularity_row(
                html, one.group.empty() || one.group == one.name ? one.name : fmt::format("{}: {}", one.group, one.name), study,
                [i](const AtGranularity& at) { return format_fraction(at.classes[i].share); });
        }
    html.close().close();
    if (order.size() > kMostClassesListed)
        html.element("p",
                     fmt::format("{} with less are not listed; --format json has them.",
                                 counted(order.size() - kMostClassesListed, "class", "classes")),
                     {{"class", "muted"}});
    html.close();
}

void put_html_lengths(HtmlWriter& html, const Study& study) {
    if (!has_losers(study))
        return;
    const auto steps = cumulative_losses(study);
    if (steps.empty())
        return;
    html.open("section", {{"id", "lengths"}}).element("h2", "How long the events are that cost");
    html.element(
        "p",
        "The part of the lost time that events of at most a length make: whether many short events cost the job its time, or "
        "few long ones.");
    if (!kPageScript.empty())
        put_html_chart(
            html, "chart-simulation-lengths",
            "Cumulative share of the lost time by the length of the events; the axis of lengths is logarithmic. The names mark "
            "the mean lengths of the classes that cost most.");
    html.open("details").element("summary", "The figures");
    begin_granularity_table(html, "events of at most", study);
    for (const CumulativeLoss& step : steps) {
        std::vector<std::string> cells;
        for (const double share : step.shares)
            cells.push_back(format_fraction(share));
        put_html_row(html, format_seconds(step.length_s), cells);
    }
    html.close().close().close().close();
}

} // namespace plumb
