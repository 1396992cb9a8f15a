#include "trial/selection.h"

#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb::trial {

namespace {

void check_ids(const std::vector<Cure>& cures, const std::vector<std::string>& ids) {
    std::vector<std::string> known;
    for (const Cure& cure : cures)
        known.push_back(cure.id);
    for (const std::string& id : ids)
        if (std::ranges::find(known, id) == known.end())
            throw UsageError(fmt::format("there is no cure {}; the cures are {}", id, fmt::join(known, ", ")));
}

// Why not; empty: it is tried.
std::string why_left_out(const CureOutcome& one, const Wanted& wanted) {
    if (!wanted.ids.empty())
        return std::ranges::find(wanted.ids, one.cure.id) == wanted.ids.end() ? "another choice was made" : "";
    return wanted.all || one.promise || !one.cure.why_tried.empty() ? "" : "nothing speaks for it";
}

double promised(const CureOutcome& one) {
    return one.promise ? one.promise->gain : -1;
}

} // namespace

std::vector<CureOutcome> select_cures(std::vector<Cure> cures, const std::vector<Finding>& findings, const Wanted& wanted) {
    check_ids(cures, wanted.ids);
    std::vector<CureOutcome> outcomes;
    for (Cure& cure : cures) {
        CureOutcome one;
        one.promise = promise_of(cure, findings);
        one.cure = std::move(cure);
        one.is_chosen = std::ranges::find(wanted.ids, one.cure.id) != wanted.ids.end();
        if (const std::string left_out = why_left_out(one, wanted); !one.cure.why_not.empty()) {
            one.state = State::does_not_apply;
            one.why = one.cure.why_not;
        } else {
            one.state = left_out.empty() ? State::measured : State::not_tried;
            one.why = left_out;
        }
        outcomes.push_back(std::move(one));
    }
    std::ranges::stable_sort(outcomes, [](const CureOutcome& one, const CureOutcome& other) {
        return one.state != other.state ? one.state < other.state : promised(one) > promised(other);
    });
    return outcomes;
}

size_t affordable(double run_s, double time_s) {
    constexpr size_t kMost = 1000;
    size_t cures = 1;
    while (cures < kMost && run_s * static_cast<double>(kLeastPairs * runs_of_rounds(cures + 1)) <= time_s)
        cures++;
    return cures;
}

std::vector<size_t> best_together(const std::vector<CureOutcome>& cures) {
    std::vector<size_t> better, together;
    for (size_t i = 0; i < cures.size(); ++i)
        if (cures[i].state == State::measured && cures[i].measured.decision.verdict == Verdict::better && !cures[i].is_doubtful)
            better.push_back(i);
    std::ranges::stable_sort(better, std::greater(), [&](size_t i) { return cures[i].measured.decision.gain; });
    for (const size_t one : better)
        if (std::ranges::none_of(together,
                                 [&](size_t other) { return exclude_each_other(cures[one].cure, cures[other].cure); }))
            together.push_back(one);
    return together;
}

} // namespace plumb::trial
