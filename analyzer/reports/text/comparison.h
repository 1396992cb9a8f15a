// Two sets of runs, compared, as text.
#pragma once

#include "compare/comparison.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

std::string comparison_text(const Comparison& comparison, const TextStyle& style);

} // namespace plumb
