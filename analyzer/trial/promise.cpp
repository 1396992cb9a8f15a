#include "trial/promise.h"

#include <algorithm>

namespace plumb::trial {

namespace {

bool is_meant(const Cure& cure, const Advice& advice) {
    return advice.applies == "launch" && std::ranges::any_of(cure.answers, [&](const std::string& mark) {
               return advice.command.find(mark) != std::string::npos || advice.how.find(mark) != std::string::npos;
           });
}

} // namespace

std::optional<Promise> promise_of(const Cure& cure, const std::vector<Finding>& findings) {
    std::optional<Promise> promise;
    for (const Finding& finding : findings)
        if (std::ranges::any_of(finding.advice, [&](const Advice& advice) { return is_meant(cure, advice); }) &&
            (!promise || finding.gain.fraction > promise->gain))
            promise = Promise{finding.id, finding.title, finding.gain.fraction,
                              cure.is_part_of_answer || finding.gain.kind() == Gain::Kind::upper_bound};
    return promise;
}

} // namespace plumb::trial
