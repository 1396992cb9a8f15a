#include "reports/text/simulation.h"

#include "reports/text/canvas.h"
#include "reports/words/recorded_words.h"
#include "reports/words/simulation_words.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace plumb {

namespace {

using simulate::AtGranularity;
using simulate::LossByLength;
using simulate::Study;
using Align = Column::Align;
using SimulationRows = std::vector<std::vector<std::string>>;

constexpr size_t kMostChanges = 10, kMostClassRows = 12, kMostFitted = 6;
constexpr double kLeastLossShare = 0.01; // of the delay at any granularity, to be listed

std::vector<Column> columns_for(size_t figures) {
    std::vector<Column> columns{{.align = Align::left, .limit = 44}};
    columns.resize(figures + 1, Column{.align = Align::right, .limit = 24});
    return columns;
}

std::vector<std::string> headed(std::string first, const Study& study) {
    std::vector<std::string> row{std::move(first)};
    for (const AtGranularity& at : study.granularities)
        row.push_back(at.work_s == 0 ? "no work" : format_seconds(at.work_s));
    return row;
}

template <class Figure> std::vector<std::string> row_of(const std::string& first, const Study& study, Figure figure) {
    std::vector<std::string> row{first};
    for (const AtGranularity& at : study.granularities)
        row.push_back(figure(at));
    return row;
}

void put_job(TextCanvas& canvas, const Study& study) {
    const simulate::Job& job = study.plan.base.job;
    const model::NoiseMachine& machine = study.plan.base.machine;
    if (study.plan.recorded)
        canvas.paragraph("run", 10, {{study.plan.recorded->run}});
    canvas.paragraph("job", 10,
                     {{fmt::format("{}, {} on each of {} with {}", counted(job.ranks, "rank", "ranks"), job.ranks_per_node,
                                   counted(job.nodes(), "node", "nodes"), counted(job.cpus_per_node, "CPU", "CPUs"))}});
    canvas.paragraph("cycle", 10,
                     {{fmt::format("each rank computes{}, then all take part in {} of {}{}",
                                   job.pattern ? ", as much in each step as was recorded" : "", collective_words(job.collective),
                                   format_seconds(study.collective_s),
                                   study.plan.imbalance > 0 ? fmt::format("; the slowest rank has {} more work than the mean",
                                                                          format_fraction(study.plan.imbalance))
                                                            : "")}});
    canvas.paragraph("noise", 10,
                     {{fmt::format("{}{}", machine.name.empty() ? "" : machine.name + ": ",
                                   counted(machine.classes.size(), "class", "classes"))}});
    std::vector<std::string> fitted;
    for (const model::NoiseClass& one : machine.classes)
        if (!one.fitted.empty())
            fitted.push_back(fmt::format("{} ({})", one.name, fmt::join(one.fitted, ", ")));
    if (!fitted.empty()) {
        const size_t more = fitted.size() > kMostFitted ? fitted.size() - kMostFitted : 0;
        fitted.resize(fitted.size() - more);
        canvas.paragraph("fitted", 10,
                         {{fmt::format("not measured: {}{}", fmt::join(fitted, "; "),
                                       more ? fmt::format("; and of {} more", counted(more, "class", "classes")) : "")}});
    }
    canvas.paragraph("runs", 10,
                     {{fmt::format("{} of {} in each case; {} 95 % confidence", counted(study.plan.seeds, "run", "runs"),
                                   counted(job.cycles, "cycle", "cycles"), canvas.style().unicode ? "±" : "+-")}});
}

void put_recorded(TextCanvas& canvas, const Study& study) {
    const auto beside = beside_recording(study);
    for (const std::string& taker : taker_sentences(study))
        canvas.paragraph("recorded", 10, {{taker}});
    if (study.plan.recorded && !beside)
        canvas.paragraph("recording", 10, {{kNotBesideRecording}});
    if (!beside)
        return;
    canvas.heading("Beside the recording");
    canvas.table(2, columns_for(3),
                 {{"", "recorded", "simulated", "difference"},
                  {"mean length of a step", format_seconds(beside->step_s), format_seconds(beside->simulated_step_s),
                   difference_words(beside->step_s, beside->simulated_step_s)},
                  {"of it a rank waits for others", format_seconds(beside->waited_s),
                   format_seconds(beside->simulated_waited_s), difference_words(beside->waited_s, beside->simulated_waited_s)}});
    const std::vector<std::string> missing = missing_in_simulation(study);
    if (!beside->agrees() && missing.empty())
        canvas.paragraph("  missing", 11, {{"it is not known why they differ"}});
    for (const std::string& sentence : missing)
        canvas.paragraph("  missing", 11, {{sentence}});
}

void put_cycles(TextCanvas& canvas, const Study& study) {
    const bool unicode = canvas.style().unicode;
    canvas.heading("Time of a cycle");
    SimulationRows rows{headed("work of a rank in a cycle", study)};
    rows.push_back(
        row_of("with the noise", study, [&](const AtGranularity& at) { return time_with_error(at.cycle_s, unicode); }));
    rows.push_back(row_of("without noise", study, [](const AtGranularity& at) { return format_seconds(at.quiet_cycle_s); }));
    rows.push_back(row_of("slower by a factor of", study, [](const AtGranularity& at) {
        return at.quiet_cycle_s > 0 ? three_digits(at.cycle_s.mean / at.quiet_cycle_s) : "-";
    }));
    canvas.table(2, columns_for(study.granularities.size()), rows);
}

void put_rare(TextCanvas& canvas, const Study& study) {
    if (const std::vector<std::string> names = rare_classes(study); !names.empty())
        canvas.paragraph("  rare", 10,
                         {{fmt::format("the runs hold fewer than {} events of {}: more --cycles are needed to judge",
                                       kFewEvents, fmt::join(names, ", "))}});
}

void put_changes(TextCanvas& canvas, const Study& study) {
    const bool unicode = canvas.style().unicode;
    if (study.order.empty())
        return;
    canvas.heading("What a change gains, in time of the job");
    SimulationRows rows{headed("work of a rank in a cycle", study)};
    const auto add = [&](const std::string& label, auto what_if) {
        rows.push_back(
            row_of(label, study, [&](const AtGranularity& at) { return percent_with_error(what_if(at).gain, unicode); }));
    };
    for (size_t i = 0; i < std::min(study.order.size(), kMostChanges); i++) {
        const size_t change = study.order[i];
        add(study.granularities.front().changes[change].label,
            [change](const AtGranularity& at) -> const simulate::WhatIf& { return at.changes[change]; });
    }
    if (study.order.size() > 1)
        add("all together", [](const AtGranularity& at) -> const simulate::WhatIf& { return at.together; });
    canvas.table(2, columns_for(study.granularities.size()), rows);
    if (study.order.size() > kMostChanges)
        canvas.paragraph("", 2,
                         {{fmt::format("{} gain less and are not listed; --format json has them.",
                                       counted(study.order.size() - kMostChanges, "change", "changes")),
                           Ink::faint}});
}

std::string duration_words(const model::NoiseClass& one) {
    if (one.recorded)
        return fmt::format("{} ({}, {} on average)", one.name, counted(one.events, "event", "events"),
                           format_seconds(one.duration.mean_s));
    return fmt::format("{} ({} every {}{})", one.name, format_seconds(one.duration.mean_s), format_seconds(one.mean_period_s()),
                       one.scope == model::NoiseClass::Scope::cpu ? " on each CPU" : "");
}

// Groups with their classes below, as far as they made a part of the delay.
void put_classes(TextCanvas& canvas, const Study& study) {
    if (study.granularities.front().classes.empty())
        return;
    const auto& classes = study.plan.base.machine.classes;
    std::map<std::string, std::vector<size_t>> groups;
    std::vector<std::string> order;
    for (size_t i = 0; i < classes.size(); i++) {
        if (!groups.contains(classes[i].group))
            order.push_back(classes[i].group);
        groups[classes[i].group].push_back(i);
    }
    const auto share = [&](const AtGranularity& at, const std::vector<size_t>& members) {
        double sum = 0;
        for (const size_t i : members)
            sum += at.classes[i].share;
        return sum;
    };
    const auto largest = [&](const std::vector<size_t>& members) {
        double most = 0;
        for (const AtGranularity& at : study.granularities)
            most = std::max(most, share(at, members));
        return most;
    };
    SimulationRows rows{headed("work of a rank in a cycle", study)};
    const auto add = [&](const std::string& label, const std::vector<size_t>& members) {
        if (largest(members) >= kLeastLossShare)
            rows.push_back(row_of(label, study, [&](const AtGranularity& at) { return format_fraction(share(at, members)); }));
    };
    for (const std::string& group : order) {
        const std::vector<size_t>& members = groups[group];
        const bool is_group = !group.empty() && members.size() > 1;
        if (is_group)
            add(group, members);
        for (const size_t i : members)
            if (rows.size() <= kMostClassRows)
                add((is_group ? "  " : "") + duration_words(classes[i]), {i});
    }
    if (rows.size() < 2)
        return;
    canvas.heading("What makes the last rank late, by share of the lost time");
    canvas.table(2, columns_for(study.granularities.size()), rows);
}

void put_lengths(TextCanvas& canvas, const Study& study) {
    if (study.granularities.front().classes.empty())
        return;
    SimulationRows rows{headed("work of a rank in a cycle", study)};
    std::vector<std::string> before;
    for (int step = 1; step <= 18; step++) { // half decades
        const size_t bin = static_cast<size_t>(step * LossByLength::kPerDecade / 2);
        std::vector<std::string> row =
            row_of(format_seconds(LossByLength::upper_s(bin - 1)), study, [&](const AtGranularity& at) {
                double below = 0, all = 0;
                for (size_t i = 0; i < LossByLength::kBins; i++) {
                    all += at.loss.delay_s[i];
                    below += i < bin ? at.loss.delay_s[i] : 0;
                }
                return format_fraction(all > 0 ? std::min(1.0, below / all) : 0);
            });
        const std::vector<std::string> figures(row.begin() + 1, row.end());
        if (figures != before && std::ranges::any_of(figures, [](const std::string& text) { return text != "0 %"; }))
            rows.push_back(std::move(row));
        before = figures;
    }
    if (rows.size() < 2)
        return;
    canvas.heading("Lost to events of at most this length");
    canvas.table(2, columns_for(study.granularities.size()), rows);
}

void put_scales(TextCanvas& canvas, const Study& study) {
    if (study.scales.empty())
        return;
    canvas.heading("Larger jobs: time of a cycle, and with all changes above together");
    std::vector<std::string> head{"ranks"};
    for (const AtGranularity& at : study.granularities)
        head.push_back(at.work_s == 0 ? "no work" : format_seconds(at.work_s));
    SimulationRows rows{head};
    for (const simulate::AtScale& at : study.scales) {
        std::vector<std::string> row{format_count(at.ranks)};
        for (size_t i = 0; i < at.cycle_s.size(); i++)
            row.push_back(
                fmt::format("{} → {}", format_seconds(at.cycle_s[i].mean), format_seconds(at.changed_cycle_s[i].mean)));
        rows.push_back(std::move(row));
    }
    canvas.table(2, columns_for(study.granularities.size()), rows);
}

} // namespace

std::string simulation_text(const Study& study, const TextStyle& style, double took_s) {
    TextCanvas canvas(style);
    put_job(canvas, study);
    put_recorded(canvas, study);
    put_cycles(canvas, study);
    put_rare(canvas, study);
    put_changes(canvas, study);
    put_classes(canvas, study);
    put_lengths(canvas, study);
    put_scales(canvas, study);
    canvas.blank();
    canvas.paragraph(
        "", 0,
        {{fmt::format("The simulated time held {} events of noise on CPUs of ranks and took {} to simulate. {}",
                      format_count(std::round(study.events)), format_seconds(took_s),
                      followed_words(study)),
          Ink::faint}});
    return canvas.take();
}

} // namespace plumb
