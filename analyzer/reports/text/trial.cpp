#include "reports/text/trial.h"

#include "reports/text/canvas.h"
#include "reports/words/trial_words.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using trial::CureOutcome;
using trial::State;
using trial::Verdict;
using Align = Column::Align;

constexpr size_t kTrialLabel = 10;
constexpr double kMuchMore = 0.1;    // CPU time or memory: then it is said
constexpr double kMuchScatter = 0.1; // between the quarters of the runs of the command as it is

std::string ids_of(const trial::Outcome& outcome, const std::vector<size_t>& cures) {
    std::vector<std::string> ids;
    for (const size_t i : cures)
        ids.push_back(outcome.cures[i].cure.id);
    return fmt::to_string(fmt::join(ids, " + "));
}

std::vector<std::string> measured_row(const std::string& name, const std::string& promise, const trial::Measurement& measured) {
    const trial::Decision& decision = measured.decision;
    return {name,
            promise,
            decision.pairs > 0 ? gain_words(decision.gain) : "",
            gain_interval_words(decision),
            trial_verdict_words(decision.verdict),
            fmt::format("{}", decision.pairs)};
}

void put_base(TextCanvas& canvas, const trial::Outcome& outcome) {
    canvas.paragraph("command", kTrialLabel, {{outcome.line, Ink::strong}});
    if (const auto& wall = outcome.base_wall_s;
        wall && wall->upper_quartile - wall->lower_quartile > kMuchScatter * wall->median)
        canvas.paragraph(
            "", kTrialLabel,
            {{fmt::format("half of its runs without a cure took {} to {}: where other programs use the machine, small gains "
                          "cannot be seen",
                          format_seconds(wall->lower_quartile), format_seconds(wall->upper_quartile)),
              Ink::medium}});
    if (outcome.unusual_base_runs > 0)
        canvas.paragraph(
            "", kTrialLabel,
            {{fmt::format("{} of {} of it ended with another status than {}, without any cure: not counted",
                          outcome.unusual_base_runs, counted(outcome.base_runs, "run", "runs"), outcome.usual_status),
              Ink::medium}});
    else if (outcome.usual_status != 0)
        canvas.paragraph(
            "", kTrialLabel,
            {{fmt::format("each of its runs ends with status {}: this counts as its usual end", outcome.usual_status)}});
    if (!outcome.changing_outputs.empty())
        canvas.paragraph("", kTrialLabel,
                         {{fmt::format("{} {} from run to run without any cure, and cannot be compared",
                                       fmt::join(outcome.changing_outputs, ", "),
                                       outcome.changing_outputs.size() == 1 ? "changes" : "change"),
                           Ink::medium}});
    canvas.paragraph("in", kTrialLabel, {{outcome.directory}});
    if (!outcome.stopped.empty())
        canvas.paragraph("ended", kTrialLabel, {{"before all was decided: " + outcome.stopped, Ink::medium}});
}

bool was_tried(const CureOutcome& one) {
    return one.state == State::measured || one.state == State::failed;
}

void put_measured(TextCanvas& canvas, const trial::Outcome& outcome) {
    std::vector<std::vector<std::string>> rows{{"cure", "promised", "measured", "95 %", "", "pairs"}};
    for (const CureOutcome& one : outcome.cures)
        if (one.state == State::measured) {
            rows.push_back(measured_row(one.cure.id, promise_words(one.promise), one.measured));
            if (one.once_more && one.once_more->decision.pairs > 0)
                rows.push_back(measured_row("  once more", "", *one.once_more));
        } else if (one.state == State::failed)
            rows.push_back(
                {one.cure.id, promise_words(one.promise), "", "", "failed", std::to_string(one.measured.decision.pairs)});
    if (outcome.combination) {
        rows.push_back(measured_row("these together", "", outcome.combination->against_base));
        rows.push_back(measured_row("  beside the best", "", outcome.combination->against_best));
        if (!outcome.combination->failure.empty())
            rows.back()[4] = "failed";
    }
    if (rows.size() == 1)
        return;
    canvas.heading("Wall time saved");
    canvas.table(2,
                 {{.limit = 18},
                  {.align = Align::right, .limit = 12},
                  {.align = Align::right, .limit = 10},
                  {.align = Align::right, .limit = 20},
                  {.limit = 18},
                  {.align = Align::right, .limit = 6}},
                 rows);
}

void put_notes(TextCanvas& canvas, const trial::Outcome& outcome) {
    for (const CureOutcome& one : outcome.cures) {
        if (!was_tried(one)) {
            if (one.is_chosen)
                canvas.paragraph("  " + one.cure.id, 18,
                                 {{(one.state == State::does_not_apply ? "does not apply: " : "not tried: ") + one.why}});
            continue;
        }
        std::string words = one.cure.what;
        if (one.promise)
            words += fmt::format(" [{}]", one.promise->finding);
        else if (!one.cure.why_tried.empty())
            words += fmt::format(" ({})", one.cure.why_tried);
        if (one.state == State::failed)
            words += fmt::format("; it changes what the program does: {}", one.why);
        else if (one.measured.decision.pairs > 0 && one.measured.more_cpu > kMuchMore)
            words += fmt::format("; {} more CPU time", format_fraction(one.measured.more_cpu));
        else if (one.measured.decision.pairs > 0 && one.measured.more_cpu < -kMuchMore)
            words += fmt::format("; {} less CPU time", format_fraction(-one.measured.more_cpu));
        if (one.state == State::measured && one.measured.more_memory.value_or(0) > kMuchMore)
            words += fmt::format("; {} more memory", format_fraction(*one.measured.more_memory));
        canvas.paragraph("  " + one.cure.id, 18, {{words}});
    }
    if (outcome.combination)
        canvas.paragraph("  together", 18,
                         {{ids_of(outcome, outcome.combination->cures) +
                           (outcome.combination->failure.empty() ? "" : "; failed: " + outcome.combination->failure)}});
}

void put_doubtful(TextCanvas& canvas, const trial::Outcome& outcome) {
    std::vector<size_t> doubtful;
    for (size_t i = 0; i < outcome.cures.size(); ++i)
        if (outcome.cures[i].is_doubtful)
            doubtful.push_back(i);
    if (!doubtful.empty())
        canvas.paragraph("", 0,
                         {{fmt::format("Better at first, but not when measured once more, and so not recommended: {}.",
                                       ids_of(outcome, doubtful))}});
}

void put_best(TextCanvas& canvas, const trial::Outcome& outcome) {
    canvas.blank();
    put_doubtful(canvas, outcome);
    if (outcome.best.empty()) {
        const bool any = std::ranges::any_of(outcome.cures, was_tried);
        const bool any_chosen = std::ranges::any_of(outcome.cures, &CureOutcome::is_chosen);
        canvas.paragraph(
            "", 0,
            {{any          ? "No cure is known to help: start the command as it is."
              : any_chosen ? "None of these cures can be tried."
                           : "No finding of the first run advises anything that can be tried at launch here: see --list, --all "
                             "and --cure."}});
        return;
    }
    const trial::Measurement& measured = outcome.best_measured;
    canvas.paragraph("", 0,
                     {{fmt::format("Best: {}, pair by pair {} of the wall time less{} (medians: {} with it, {} without):",
                                   ids_of(outcome, outcome.best), gain_words(measured.decision.gain),
                                   outcome.best_is_confirmed ? " when measured once more" : "",
                                   format_seconds(measured.wall_s), format_seconds(measured.base_wall_s)),
                       Ink::good}});
    canvas.verbatim(2, outcome.best_line);
    if (!outcome.best_is_confirmed)
        canvas.paragraph("", 0,
                         {{"It is not confirmed: new pairs of runs were too few to decide whether it is better. A longer --time "
                           "allows more.", Ink::medium}});
    if (const auto tried = std::ranges::count_if(outcome.cures, was_tried); tried > 1) {
        const double chance = trial::chance_of_false(static_cast<size_t>(tried), outcome.best_is_confirmed);
        canvas.paragraph("", 0,
                         {{fmt::format("It was chosen from {} cures: if none of them gained anything, chance would {} in one of "
                                       "{} such trials at most.",
                                       tried, outcome.best_is_confirmed ? "call one better twice" : "call one better",
                                       format_count(std::floor(1 / chance + 1e-6)))}});
    }
}

void put_list(TextCanvas& canvas, const trial::Outcome& outcome) {
    std::vector<std::vector<std::string>> rows{{"cure", "promised", "", ""}};
    for (const CureOutcome& one : outcome.cures)
        rows.push_back({one.cure.id, one.state == State::does_not_apply ? "" : promise_words(one.promise),
                        one.state == State::measured    ? "would be tried"
                        : one.state == State::not_tried ? "not tried"
                                                        : "does not apply",
                        one.state == State::measured ? one.cure.what : one.why});
    canvas.heading("Cures");
    canvas.table(2, {{.limit = 14}, {.align = Align::right, .limit = 12}, {.limit = 14}, {}}, rows);
}

} // namespace

std::string trial_text(const trial::Outcome& outcome, bool is_list, const TextStyle& style) {
    TextCanvas canvas(style);
    put_base(canvas, outcome);
    if (is_list) {
        put_list(canvas, outcome);
        return canvas.take();
    }
    put_measured(canvas, outcome);
    put_notes(canvas, outcome);
    put_best(canvas, outcome);
    return canvas.take();
}

} // namespace plumb
