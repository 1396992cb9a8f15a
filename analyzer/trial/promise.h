// What the findings of the first run promise of a cure.
#pragma once

#include "diagnoses/finding.h"
#include "trial/cure.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::trial {

struct Promise {
    std::string finding, title;
    double gain = 0;         // fraction of the wall time
    bool is_at_most = false; // an upper bound, as the finding says
};

// Of the finding that promises most among those with advice that the cure is. None: no finding advises it.
std::optional<Promise> promise_of(const Cure& cure, const std::vector<Finding>& findings);

} // namespace plumb::trial
