#include "reports/words/trial_words.h"

#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>

namespace plumb {

using trial::State;
using trial::Verdict;

std::string promise_words(const std::optional<trial::Promise>& promise) {
    if (!promise)
        return "none";
    if (promise->gain <= 0)
        return "not known";
    return (promise->is_at_most ? "up to " : "about ") + format_fraction(promise->gain);
}

std::string gain_words(double gain) {
    return (gain < 0 ? "-" : "") + format_fraction(std::abs(gain));
}

std::string gain_interval_words(const trial::Decision& decision) {
    if (!decision.is_known)
        return "";
    const std::string low = gain_words(decision.low), high = gain_words(decision.high);
    return fmt::format("{} to {}", low.substr(0, low.rfind(' ')), high);
}

const char* trial_verdict_words(Verdict verdict) {
    switch (verdict) {
    case Verdict::better:
        return "better";
    case Verdict::worse:
        return "worse";
    case Verdict::too_small:
        return "gains too little";
    case Verdict::unlikely:
        return "no gain in sight";
    case Verdict::undecided:
        break;
    }
    return "not decided";
}

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
    case Verdict::better:
        return "better";
    case Verdict::worse:
        return "worse";
    case Verdict::too_small:
        return "too-small";
    case Verdict::unlikely:
        return "unlikely";
    case Verdict::undecided:
        break;
    }
    return "undecided";
}

const char* state_name(State state) {
    switch (state) {
    case State::measured:
        return "measured";
    case State::failed:
        return "failed";
    case State::does_not_apply:
        return "does-not-apply";
    case State::not_tried:
        break;
    }
    return "not-tried";
}

} // namespace plumb
