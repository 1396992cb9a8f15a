#include "reports/words/recorded_words.h"

#include "reports/words/noise_words.h"
#include "reports/words/simulation_words.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kMostDifference = 0.1, kLeastWaiting = 0.01; // of either; of a step
constexpr double kWorthASentence = 0.1;

} // namespace

bool BesideRecording::agrees() const {
    const double apart_s = std::fabs(simulated_waited_s - waited_s);
    return std::fabs(simulated_step_s - step_s) <= kMostDifference * step_s &&
           (apart_s <= kMostDifference * waited_s || apart_s <= kLeastWaiting * step_s);
}

std::optional<BesideRecording> beside_recording(const simulate::Study& study) {
    const auto& recorded = study.plan.recorded;
    if (!recorded || !recorded->own_noise)
        return {};
    const auto same = std::ranges::find(study.granularities, recorded->work_s, &simulate::AtGranularity::work_s);
    if (same == study.granularities.end() || !same->waited_s)
        return {};
    return BesideRecording{recorded->step_s, same->cycle_s.mean, recorded->waited_s, same->waited_s->mean};
}

std::string difference_words(double recorded, double simulated) {
    return recorded > 0 ? fmt::format("{:+.1f} %", 100 * (simulated / recorded - 1)) : "-";
}

std::vector<std::string> taker_sentences(const simulate::Study& study) {
    std::vector<std::string> sentences;
    if (!study.plan.recorded || !study.plan.recorded->own_noise)
        return sentences;
    for (const simulate::RecordedTaker& taker : study.plan.recorded->takers) {
        std::string text = fmt::format("{} took {} of the ranks' CPU time", taker.name, format_seconds(taker.taken_s));
        if (!taker.classes.empty())
            text += fmt::format("; {} of it {}", format_fraction(taker.classes.front().loss_share),
                                class_words(taker.classes.front(), 1).rhythm);
        sentences.push_back(std::move(text));
    }
    return sentences;
}

std::vector<std::string> missing_in_simulation(const simulate::Study& study) {
    std::vector<std::string> missing;
    if (!study.plan.recorded || !study.plan.recorded->own_noise)
        return missing;
    const simulate::Recorded& recorded = *study.plan.recorded;
    const double all_s = recorded.taken_s + recorded.other_taken_s;
    if (recorded.recorded_share < 1 - kWorthASentence)
        missing.push_back(fmt::format("of the time that ranks had no CPU, {} was recorded one by one; the rest is work of the ranks "
                                      "here",
                                      format_fraction(recorded.recorded_share)));
    if (all_s > 0 && recorded.other_taken_s > kWorthASentence * all_s)
        missing.push_back(fmt::format("{} of the CPU time that ranks lost went to other ranks, to plumb, or to somebody who is not known: "
                                      "it is work of the ranks here, which no change removes",
                                      format_fraction(recorded.other_taken_s / all_s)));
    if (recorded.waited_before_share > kWorthASentence)
        missing.push_back(fmt::format("{} of the waiting was for messages, before the collective of all ranks: here they wait at the next "
                                      "one, once for the last of them. Where ranks wait for one another several times in a step, "
                                      "it takes longer than here",
                                      format_fraction(recorded.waited_before_share)));
    if (recorded.message_stride > 1)
        missing.push_back(fmt::format("one in {} messages was kept: waiting for the others is work of the ranks here",
                                      recorded.message_stride));
    if (recorded.steps < recorded.all_steps)
        missing.push_back(fmt::format("{} of {} steps were kept", format_count(static_cast<double>(recorded.steps)),
                                      format_count(static_cast<double>(recorded.all_steps))));
    for (const simulate::AtGranularity& at : study.granularities)
        if (at.work_s == recorded.work_s)
            for (const simulate::ClassLoss& one : at.classes)
                if (one.share > kWorthASentence && one.events / study.plan.seeds < kFewEvents)
                    missing.push_back(fmt::format("{}: only {:.0f} events in the time of the run, too few for the mean of another run",
                                                  one.name, one.events / study.plan.seeds));
    return missing;
}

} // namespace plumb
