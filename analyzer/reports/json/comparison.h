// Two sets of runs, compared, as JSON with the schema plumb-comparison/1.
#pragma once

#include "compare/comparison.h"

#include <string>

namespace plumb {

std::string comparison_json(const Comparison& comparison);

} // namespace plumb
