// Two sets of runs, compared, as JSON with the schema plumb-comparison/1.
#pragma once

#include "compare/comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace plumb {

std::string comparison_json(const Comparison& comparison);
nlohmann::ordered_json comparison_document(const Comparison& comparison); // the same, as a part of another document

} // namespace plumb
