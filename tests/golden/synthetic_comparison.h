// Comparisons of runs that never were: what a report of one shows, the same on every machine.
#pragma once

#include "compare/comparison.h"

#include <string>

namespace plumb::synthetic {

// "comparison": five runs of each of two builds, with something of every kind that changes. "comparison-few": single runs,
// without the sources. "comparison-hostile": every name tries to break out of its form. Throws Error for another name.
Comparison make_comparison(const std::string& kind);

bool is_comparison(const std::string& kind);

} // namespace plumb::synthetic
