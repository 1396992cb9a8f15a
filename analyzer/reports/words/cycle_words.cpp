#include "reports/words/cycle_words.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace plumb {

namespace {

constexpr uint64_t kFewCycles = 40;
constexpr uint64_t kFewAlike = 10, kLongPeriod = 64; // as replay/ compares them: beyond, all but one place of a period are alike
constexpr double kLittle = 0.02, kSmallPart = 0.05; // of the mean cycle; of its loss

// "1.31", "72.3", "0.004"; never 0 of what was measured.
std::string times_text(double ratio) {
    return ratio >= 0.1 ? three_digits(ratio) : ratio >= 0.001 ? fmt::format("{:.3f}", ratio) : "less than 0.001";
}

// So many kinds share the cycles that few are alike.
bool are_few_alike(const model::MpiCycles& cycles) {
    return cycles.count < kFewAlike * cycles.kinds * (cycles.period <= kLongPeriod ? cycles.period : 1);
}

// What makes cycles differ by the program's own way.
std::string design_words(const model::MpiCycles& cycles, const char* end) {
    std::vector<std::string> ways;
    if (cycles.kinds > 1)
        ways.push_back(fmt::format("by the collectives within a cycle there are {} kinds of them", cycles.kinds));
    if (cycles.period > 1)
        ways.push_back(fmt::format("a pattern repeats every {} cycles", cycles.period));
    if (cycles.drifts)
        ways.push_back("cycles change in the course of the run");
    if (ways.empty())
        return "";
    std::string text = fmt::to_string(fmt::join(ways, ", and "));
    text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
    return text + end;
}

} // namespace

std::string cycles_sentence(const MpiSummary& summary) {
    const model::MpiCycles& cycles = summary.job->cycles;
    if (cycles.count == 0)
        return "";
    const std::string place = frame_text(summary.cycle_frame);
    const std::string of = fmt::format("{}{}{}", cycles.call, place.empty() ? "" : " at ", place);
    if (cycles.count == 1)
        return fmt::format("One cycle, from {} to the next: {}.", of, format_seconds(cycles.mean_s));
    return fmt::format("{} cycles, each from {} to the next: mean {}; least {}, tenth percentile {}, median {}, ninetieth percentile "
                       "{}, most {}.",
                       format_count(static_cast<double>(cycles.count)), of, format_seconds(cycles.mean_s), format_seconds(cycles.least_s),
                       format_seconds(cycles.tenth_s), format_seconds(cycles.median_s), format_seconds(cycles.ninetieth_s),
                       format_seconds(cycles.most_s));
}

std::string cycle_loss_sentence(const MpiSummary& summary) {
    const model::MpiCycles& cycles = summary.job->cycles;
    const double loss_s = cycles.mean_s - cycles.attainable_s;
    if (cycles.count < kFewCycles)
        return "";
    if (are_few_alike(cycles))
        return "What cycles could take is not known, because too few are alike. " + design_words(cycles, ".");
    const std::string design = design_words(cycles, ": only cycles that are alike in this were compared.");
    if (loss_s < kLittle * cycles.mean_s)
        return design.empty() ? "" : "Cycles that are alike take about the same time. " + design;
    std::pair<double, const char*> parts[] = {
        {cycles.loss.work_s, "while all ranks computed longer"},
        {cycles.loss.imbalance_s, "while the last rank computed longer than the others"},
        {cycles.loss.without_cpu_s, "while the last rank had no CPU"},
        {cycles.loss.blocked_s, "while the last rank was blocked outside MPI"},
        {cycles.loss.waiting_s, "while the last rank waited for messages"},
        {cycles.loss.mpi_s, "in MPI itself"},
        {cycles.loss.other_s, "outside MPI"},
    };
    std::ranges::stable_sort(parts, std::greater(), [](const auto& part) { return part.first; });
    std::string list;
    for (const auto& [seconds, what] : parts)
        if (seconds >= kSmallPart * loss_s)
            list += fmt::format("{}{} {}", list.empty() ? "" : ", ", format_seconds(seconds), what);
    std::string text = fmt::format("The mean cycle takes {} more than the fastest tenth of like cycles ({})",
                                   format_seconds(loss_s), format_seconds(cycles.attainable_s));
    text += list.empty() ? "." : ": " + list + ".";
    if (!cycles.resolves_scheduler() && cycles.look_s > 0 && cycles.loss.other_s >= kSmallPart * loss_s)
        text += fmt::format(" Which cycles lost a CPU is not known: the scheduler's counters are read every {}.",
                            format_seconds(cycles.look_s));
    return design.empty() ? text : text + " " + design;
}

std::string expectation_sentence(const MpiSummary& summary) {
    if (!summary.expectation)
        return "";
    const CycleExpectation& expectation = *summary.expectation;
    const std::string ranks = counted(static_cast<uint64_t>(std::max(0, summary.job->size)), "rank", "ranks");
    if (!expectation.why_not.empty())
        return fmt::format("The cycles of {} are not compared with the model: {}.", ranks, expectation.why_not);
    std::string text = fmt::format("The model expects {} a cycle of {}; measured {}, {} times as much.",
                                   format_seconds(expectation.expected_s), ranks, format_seconds(summary.job->cycles.mean_s),
                                   times_text(expectation.ratio));
    if (const auto& change = expectation.change; change && change->is_gradual)
        text += fmt::format(" This changed gradually: from {} times before cycle {} to {} times after it, by the medians.",
                            times_text(change->before), format_count(static_cast<double>(change->cycle + 1)), times_text(change->after));
    else if (change)
        text += fmt::format(" This changed at cycle {}, {} after the job began: from {} to {} times, by the medians.",
                            format_count(static_cast<double>(change->cycle + 1)), format_seconds(change->at_s),
                            times_text(change->before), times_text(change->after));
    else
        text += " No change of this in the course of the run is significant.";
    return text;
}

} // namespace plumb
